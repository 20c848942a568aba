"""Judge names and docstrings by their words: participles, riddles, imperatives."""

from __future__ import annotations

import re

__all__ = ["begins_with_riddle", "has_section", "is_imperative", "is_participle", "split_words"]

HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
SECTION = re.compile(r"^\s*(Args|Arguments|Returns|Raises|Attributes|Yields):\s*$", re.MULTILINE)
FIRST_WORD = re.compile(r"\W*([^\W\d]+)(?:\s+(\w+))?")
RIDDLES = frozenset("What Whose Whether How Which Where".split())

# Past participles that do not end in -ed. Those that are also a bare verb or a usual noun are left out:
# become, bound, come, cut, hit, let, put, read, run, set, split.
PARTICIPLES = frozenset(
    """
    begun bent bitten blown born borne bought broken brought built burnt caught chosen dealt done drawn
    driven eaten fallen fed felt forgotten fought found frozen given gone grown heard held hidden kept
    known laid lain led left lent lit lost made meant met overridden overwritten paid proven redone
    rewritten rebuilt ridden risen said seen sent sewn shaken shewn shown shrunk shut sold sought spent
    spoken spun stolen struck stuck sunk sworn swept taken taught thought thrown told torn undone
    understood unsent untold unseen unknown unwritten withdrawn withheld won worn woven written
    """.split()
)
# Words in -ed that are a verb or a noun.
NO_PARTICIPLES = frozenset(
    """
    bed bleed breed deed embed exceed feed heed need proceed red reed seed shed sled speed succeed weed
    """.split()
)
# Adjectives (and present participles that stand for one) when they are the whole name.
# Those that are a verb too are left out: complete, fit, live, open, own.
ADJECTIVES = frozenset(
    """
    active alike alive apart bare better blank common current dead different distinct due exact false
    fast final fitting foreign fresh full good hollow idle lacking large last lasting late later latest
    least light lonely long longest loose many missing native neutral new newest next old other plain
    pending possible private public pure quick quiet raw ready recent resting rough safe same short
    shorter similar simple single small smaller spare strange strong sure true unique unlike untrue
    upper usable valid visible void weak whole wide widest willing wordy worth wrong
    """.split()
)

# Bare verbs that begin a docstring or a function's name: the project's own and those of general English.
VERBS = frozenset(
    """
    abort absorb accept access accumulate acknowledge acquire act activate adapt add adjust admit adopt
    advance aggregate aim align allocate allow analyse analyze announce answer append apply approve arm
    arrange ask assemble assert assign associate assume attach attempt authenticate authorize await back
    balance batch be begin bind block borrow bound break bring broadcast browse bucket build bump bundle
    buffer cache calculate calibrate call cancel capture carry catch censor change charge chart check
    choose chop chunk claim clamp classify clean clear clip clone close coerce collapse collect colour
    color combine commit compact compare compile complain complete compose compress compute concatenate
    conclude condense configure confirm connect consider construct consult consume contact contain
    continue convert copy correct correlate count cover create crop cut deactivate debug decide declare
    decode decompress decorate decrease decrement decrypt deduce deduplicate deepcopy default defer
    define delay delegate delete deliver demand deny depend derive describe deserialize detach detect
    determine dictate diff digest disable disarm discard disconnect discover dispatch display dispose
    distribute divide do document download drain draw drive drop dump duplicate echo edit elect elide
    embed emit empty enable encode encrypt end enforce enqueue ensure enter enumerate erase escape
    establish estimate evaluate evict examine exclude execute exit expand expect expire explain export
    expose express extend extract fail fall fetch fill filter find finish fire fit fix flag flatten flip
    flush focus fold follow forbid force forget fork form format forward freeze gather generate get give
    go grant greet group grow guarantee guard guess halt hand handle hash help hide hold honour honor
    identify ignore import include increase increment index indent infer inform inherit initialise
    initialize inject insert inspect install instantiate interpret intersect introduce invalidate invert
    invoke isolate issue iterate join judge jump keep kill know label launch lay lead learn lease leave
    lend let lift limit link list listen load locate lock log look loop lower lowercase maintain make
    manage map mark mask match materialise materialize measure merge migrate mirror mix model modify
    monitor mount move multiply mute name narrow neutralise neutralize nest normalise normalize note
    notice notify number obey observe obtain offer omit open operate order organise organize output
    override overwrite own pack pad page paginate paint pair parse partition pass paste patch pause peek
    perform persist pick pin ping place plan play plot point poll pop populate post predict prefer
    prefix prepare prepend preserve press prevent preview price print probe proceed process produce
    project prolong promise prompt propagate propose protect prove provide prune publish pull push put
    query question queue quote raise rank rate reach react read rearrange rebuild recall receive
    recognise recognize recommend recompute reconcile reconnect reconstruct record recover redact
    redirect redo reduce refer refine reflect refresh refuse register reject relate relax relay release
    reload rely remember remind remove rename render renew reopen reorder repair repeat replace replay
    reply report represent request require reread reserve reset reshape resolve respect respond restart
    restore restrict resume retain retire retrieve retry return reuse reveal reverse revert revise
    revive rewind rewrite roll rotate round route run sample sanitise sanitize satisfy save say scale
    scan schedule score scrape scroll seal search seed seek select send separate serialise serialize
    serve set settle shape share shift ship shorten show shrink shuffle shut sign signal simplify
    simulate skip sleep slice slide slow sniff snapshot solve sort spare spawn specify spell split
    spread squash stack stamp stand start state stay step stop store stream stretch strip structure
    style submit subscribe substitute subtract suggest sum summarise summarize supply support suppress
    survive suspend swallow swap sweep switch synchronise synchronize tag tail take talk tally teach
    tell tear terminate test throw tick tidy tie time toggle tokenise tokenize touch trace track train
    transfer transform translate transmit traverse treat trigger trim truncate trust try tune turn type
    unblock uncover undo unescape unify uninstall union unite unlink unlock unpack unpin unregister
    unset unsubscribe unwrap update upgrade upload uppercase use validate vary verify view visit vote
    wait wake walk want warm warn wash watch weaken weigh widen wipe wire withdraw withhold work wrap
    write yield zip
    """.split()
)
# After one of these a verb that is also a noun is the noun: "Share of tokens", "Start and end".
AFTER_A_NOUN = frozenset("and or of".split())
# Two verbs joined by "and" that begin with one of these are still an imperative.
NO_NOUNS = frozenset(
    """
    add append apply ask build choose clear close collect compute convert create decide delete describe
    divide drop erase extract fetch find follow forget get give join keep let load make merge parse
    prepare print put raise read refuse remove render return run save say send serve set shorten sort
    split take tell validate write
    """.split()
)
COMPOUND_NOUNS = frozenset(
    {("index", "terms"), ("model", "groups"), ("plain", "python"), ("record", "types")}
)


def split_words(name: str) -> list[str]:
    """Split a name at its underscores and camel humps, in lower case."""
    return [word.lower() for word in HUMP.findall(name)]


def is_participle(name: str) -> bool:
    """Tell whether a function's name says what something is instead of what the function does.

    It does when its first word is a past participle (a word in ``-ed``, or an irregular one) or when its only
    word is an adjective. Present participles count only where they are in the list of adjectives.
    """
    words = split_words(name)
    if not words:
        return False
    first = words[0]
    regular = len(first) > 3 and first.endswith("ed") and first not in NO_PARTICIPLES
    return regular or first in PARTICIPLES or (len(words) == 1 and first in ADJECTIVES)


def begins_with_riddle(docstring: str) -> bool:
    """Tell whether a docstring begins with a question word instead of saying what is done."""
    found = FIRST_WORD.match(docstring)
    return found is not None and found[1] in RIDDLES


def is_imperative(docstring: str) -> bool:
    """Tell whether a docstring's first word is a bare verb.

    A verb that is a noun where it stands ("Share of …") does not count, and neither does "See …", which only
    points elsewhere. "Do not …" and "Never …" with a verb behind it do.
    """
    found = FIRST_WORD.match(docstring)
    if found is None:
        return False
    first, second = found[1].lower(), (found[2] or "").lower()
    if first in {"never", "always", "then", "also"}:
        first, second = second, ""
    if (first, second) in COMPOUND_NOUNS:
        return False
    if second in AFTER_A_NOUN and first not in NO_NOUNS:
        return False
    return first in VERBS


def has_section(docstring: str) -> bool:
    """Tell whether a docstring has a section such as Args or Returns."""
    return SECTION.search(docstring) is not None
