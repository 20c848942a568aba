"""The shape of a lexicon: what the code may ask about any language.

Every list of words or patterns that belongs to a natural language stands in the file of that language, under
the subject it serves. The modules that use a subject join the lists of all languages, and hold no words
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One pattern of a subject.

    Attributes:
        pattern: a regular expression; the subject's module decides whether case counts and where in a text
            it has to stand.
        takes: a text that the pattern must match; a test tries it.
        leaves: a similar text that it must not match.
    """

    pattern: str
    takes: str = ""
    leaves: str = ""


Entries = tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences that the gateway says to the model.

    Attributes:
        note: that a summary stands for earlier messages.
        gone: that a picture is no longer visible.
        quoted: the heading of what is quoted from earlier messages.
        unseen: that earlier messages are no longer shown.
        gone_file: that a file is no longer visible.
        gone_audio: that a sound can no longer be heard.
        gone_video: that a video is no longer visible.
    """

    note: str
    gone: str
    quoted: str
    unseen: str
    gone_file: str
    gone_audio: str
    gone_video: str


@dataclass(frozen=True, slots=True)
class RuleWords:
    """The words by which standing rules are told; ``core.pins.rules`` says how they are weighed.

    Leads, orders, bans, wishes and headless rules stand at the beginning of a clause; where ``anywhere`` is
    set, they may stand further on.

    Attributes:
        anywhere: orders may stand anywhere in a sentence, as where the verb comes last.
        leads: what may stand before an order in its clause: "please", "and".
        orders: verbs that order something.
        bans: orders not to do something.
        wishes: wishes and duties that say as much as an order.
        headless: rules without a verb: "no emojis", "all prices in euros".
        lasting: that something holds for long, or for everything of a kind.
        manner: how to answer or to work: units, languages, tone, length, form, names.
        single: that something is about this request alone: "that file", "the first ten rows".
        deliverables: a single thing that is ordered: "write a poem".
        conditions: how a case begins in which an order holds: "when you quote".
        standing: what lays down a rule by itself: "remember: ...", "I am allergic to ...".
        asides: subordinate clauses, which order nothing: "why cats always land on their feet".
        tags: what makes a rule sound like a question: ", okay?".
        polite: rules that are put as a question.
        plain: how the plainest of the rules in a document begin.
        tales: what only sounds like a rule.
        headings: what heads a list of rules.
        impostures: what speaks to a summariser, or in the name of somebody with more authority.
    """

    anywhere: bool = False
    leads: Entries = ()
    orders: Entries = ()
    bans: Entries = ()
    wishes: Entries = ()
    headless: Entries = ()
    lasting: Entries = ()
    manner: Entries = ()
    single: Entries = ()
    deliverables: Entries = ()
    conditions: Entries = ()
    standing: Entries = ()
    asides: Entries = ()
    tags: Entries = ()
    polite: Entries = ()
    plain: Entries = ()
    tales: Entries = ()
    impostures: Entries = ()
    headings: Entries = ()


NO_RULE_WORDS = RuleWords()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All that is known about one language; a subject that it lacks is empty.

    Lists of words are strings with spaces between the words, and cues strings with a stroke between them. All
    else is patterns, each an ``Entry``.

    Attributes:
        code: the ISO 639-1 code.
        name: the English name, for the instructions to a summariser.
        script: the script that it is written in.
        phrases: what the gateway says in this language; None where it says it in English.
        common_words: frequent words by which the language is told from others of its script.
        stop_words: words that search leaves out.
        abbreviations: words with a full stop that ends no sentence.
        ending_abbreviations: words with a full stop that may end one.
        sentence_starters: words that often begin a sentence.
        months: names of months, which make the number before them an ordinal.
        before_ordinals: words behind which a number with a full stop is an ordinal.
        dates: words that date what is told.
        near_times: words that date it beside one of ``time_spans``: "last night".
        time_spans: see ``near_times``.
        idle_words: words that rules and withdrawals of every kind share.
        own_person: how somebody speaks of himself.
        corrections: what holds instead of something said before.
        reminders: explicit wishes to remember.
        decisions: that something was decided.
        undecided: that it was not.
        anchor_cues: a decision or a reminder holds one of these strings, in lower case.
        findings: how a tool says what came of its work.
        finding_cues: a finding holds one of these strings, in lower case.
        faults: how a tool's line begins that tells of a fault.
        fault_words: words of a tool's line that tells of a fault.
        conjunctions: words between which and a clause a comma may be missing.
        rules: by which words standing rules are told.
        withdrawals: what takes a rule back, without more.
        vague_withdrawals: what does so beside a request or a leave.
        interjections: words in front of a request: "well".
        politeness: how a polite request begins.
        requests: how a request begins.
        permissions: what gives leave.
        withdrawal_tales: what only sounds like a withdrawal.
        withdrawal_cues: a withdrawal holds one of these strings, in lower case.
        fresh_starts: how a line begins that does not go on with the one before.
        transforms: verbs that want a text translated, shortened and the like.
        pointers: what points to such a text.
        near_pointers: what points to a text that follows or stands before.
        exhibits: what shows a text of somebody else's: a log, a letter.
        appeals: what asks something about a text that is shown.
        rule_headings: what heads a list of rules.
        cases: how a line begins that names a case in which rules hold.
        mail_headers: names of the headers of a mail.
        source_labels: labels of what a tool printed; the English ones are told in ``provenance``.
        file_labels: what a line begins with that names a file, or behind the path; English ones as above.
        ages: how long ago something was posted: "3 days ago".
        posted: what somebody did whose post is shown below his name and its time: "commented".
        speakers: names of speakers in a recorded conversation.
        clause_numbers: words before the number of a clause of a contract or a law.
        nothing: answers that say nothing.
        answer_labels: what may head an answer: "Note:".
        refusals: how an answer begins that speaks of itself: a refusal, an apology.
        errors: how an error text begins.
        question_starts: how a question begins; where that does not tell, how it ends.
        reader: what makes a sentence speak to its reader.
        bare_questions: how a question begins that is told without a question mark.
        question_ends: how a sentence without a question mark ends that asks something.
        deferrals: promises to look into something later.
        deferral_conditions: what makes such a promise depend on the user.
        references: words that refer back, or ask, without a question mark.
    """

    code: str
    name: str
    script: str = "Latin"
    phrases: Phrases | None = None
    common_words: str = ""
    stop_words: str = ""
    abbreviations: str = ""
    ending_abbreviations: str = ""
    sentence_starters: str = ""
    months: str = ""
    before_ordinals: str = ""
    dates: str = ""
    near_times: str = ""
    time_spans: str = ""
    idle_words: str = ""
    own_person: Entries = ()
    corrections: Entries = ()
    reminders: Entries = ()
    decisions: Entries = ()
    undecided: Entries = ()
    anchor_cues: str = ""
    findings: Entries = ()
    finding_cues: str = ""
    faults: Entries = ()
    fault_words: Entries = ()
    conjunctions: Entries = ()
    rules: RuleWords = NO_RULE_WORDS
    withdrawals: Entries = ()
    vague_withdrawals: Entries = ()
    interjections: Entries = ()
    politeness: Entries = ()
    requests: Entries = ()
    permissions: Entries = ()
    withdrawal_tales: Entries = ()
    withdrawal_cues: str = ""
    fresh_starts: Entries = ()
    transforms: Entries = ()
    pointers: Entries = ()
    near_pointers: Entries = ()
    exhibits: Entries = ()
    appeals: Entries = ()
    rule_headings: Entries = ()
    cases: Entries = ()
    mail_headers: Entries = ()
    source_labels: Entries = ()
    file_labels: Entries = ()
    ages: Entries = ()
    posted: Entries = ()
    speakers: Entries = ()
    clause_numbers: Entries = ()
    nothing: Entries = ()
    answer_labels: Entries = ()
    refusals: Entries = ()
    errors: Entries = ()
    question_starts: Entries = ()
    reader: Entries = ()
    bare_questions: Entries = ()
    question_ends: Entries = ()
    deferrals: Entries = ()
    deferral_conditions: Entries = ()
    references: Entries = ()
