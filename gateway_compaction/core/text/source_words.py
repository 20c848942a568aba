"""The English words of which labels of brought-in text consist; programs write most of them, in any country.

A label is told by words of two kinds together, one for the text and one for its source. The lexicon has the
labels of other languages.
"""

from __future__ import annotations

# Words by which a label calls the text behind it: "tool output".
RESULTS = frozenset(
    "result results output outputs observation observations response responses return returned returns"
    " stdout stderr log logs traceback content contents report reports findings answer answered answers"
    " transcript reply replied replies said says printed produced snapshot excerpt dump listing".split()
)
# The same for a text with an author: "message from", "comment by". Alone they label nothing.
WRITTEN = frozenset(
    "message mail email letter comment notification issue ticket post review sms voicemail memo".split()
)
# What names the author behind such a word, and what calls the text of one: "issue description".
AUTHORED = frozenset("from by".split())
BODIES = frozenset("description body text contents".split())
# Words for a text that was written for no one conversation, as tags and labels name it: <document>.
MATERIAL = frozenset(
    "file files document documents notification context data page pages webpage info text passage passages"
    " source sources attachment attachments chunk chunks doc docs".split()
)
# Words for where the text comes from.
SOURCES = frozenset(
    "tool tools function functions command commands cmd code shell terminal bash execution exec action"
    " actions api browser agent agents subagent subagents worker plugin mcp server script snippet console"
    " program clipboard ocr web search retrieval query database task subtask step call calls invocation"
    " website".split()
)
# Words for how it came.
CAME = frozenset(
    "got returned printed produced ran executed retrieved attached fetched uploaded scraped extracted"
    " forwarded loaded read quoted cited copied pasted selected highlighted transcribed".split()
)
# What a template of messages calls the part of a tool, in its tokens: <|im_start|>tool, <|observation|>.
TEMPLATE_WORDS = frozenset(
    "tool tools function functions observation ipython environment output outputs result results"
    " response".split()
)
# Pieces of material that are numbered: "Chunk 1:".
PIECES = frozenset("chunk document source passage context result snippet excerpt".split())
# What somebody does whose words follow, and those of whom a user tells in his own words.
SAYS = frozenset("said says replied answered responded reported wrote writes".split())
# What it may be called where the words follow on the next line, and what may stand behind that word.
SENDS = frozenset(
    "returned printed produced sent texted messaged emailed mailed posted commented told".split()
)
BEHIND_SAYING = frozenset(
    "with back the following as follows this that earlier today yesterday me us".split()
)
SELF = frozenset("i we you he she they it as like my our me us your who already just always never".split())
# Words that label a source without saying which: nothing else is called so.
ALONE = frozenset("observation observations stdout stderr".split())
# Those that do so where nothing else stands on their line.
ALONE_ON_LINE = ALONE | frozenset("result results findings report".split())
# Words that may follow the one for the text: "output of ls", "results below".
BESIDE = frozenset(
    "of from for to in by after with via is was were are below follows as at on the this following id".split()
)
# Words of labels that a harness writes: what ran is a tool, or what came is a text that was fetched.
OF_HARNESS = (
    (SOURCES - frozenset("command commands cmd shell terminal bash server script console program".split()))
    | MATERIAL
    | WRITTEN
    | ALONE
) - frozenset("stdout stderr".split())
# Words behind which its source is named, and words that name none there: "results from now on".
FROM = frozenset("from of by".split())
NO_SOURCE = frozenset("now here today then me us my our this that it".split())
# Words that a label may begin with, besides those above.
FIRST = frozenset(
    "the a an this these here heres that last latest previous next new and i raw full your sub".split()
)
# A label that names the user labels what the user said.
OWN = frozenset(
    "user users human humans feedback ask asks asked question questions followup followups".split()
)
