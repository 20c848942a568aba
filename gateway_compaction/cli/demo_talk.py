"""A made-up conversation for ``demo``: somebody plans the move of a machine room with an assistant.

It is written here and not recorded, so that nobody's words are shown. Each run names a move of its own in the
first message, since a session is found by its first messages: a second run would otherwise meet the summaries
of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SYSTEM = "You help to plan the move of a machine room. Be brief and exact."
RULE = "Never plan a move on a Friday."
QUESTION = "Before we close: under which number did the auditors file our exception, and who signed it?"
EVIDENCE = ("AUD-7731-K", "Ines Okafor")
TOLD_IN_TURN = 3
"""The turn, counted from 1, whose user message holds ``EVIDENCE``."""

GREETING = (
    "We move the machine room of the Marlow Street office ({name}) to the new building, one service after"
    " the other. Keep a plan with a date, a host and a way back for each of them."
    f" {RULE} Ready?"
)
GREETING_ANSWER = (
    "Ready. I keep one line for each service: the date, the old and the new host, and the way back. No move"
    " is planned on a Friday. Which service comes first?"
)
AUDIT = (
    "One thing before the next service. The auditors filed our exception for the shared cage under"
    " AUD-7731-K, and Ines Okafor signed it on the 3rd. We need that number again when the cage is handed"
    " over. Which services have to be out of the cage before that?"
)
AUDIT_ANSWER = (
    "Noted. The services that store customers' data have to be out of the shared cage first: billing, archive"
    " and mail. The others may follow in any order, since the exception covers them until the handover."
)
ASK = (
    "Next is {service}. It runs on {old}, version {version}, and {owner} looks after it. It needs {memory} GB"
    " of memory and may be down {downtime} only. {remark} It listens on port {port}, and the firewall knows"
    " that port as rule {rule}. What do you suggest, and what is the way back?"
)
ANSWER = (
    "I put {service} down for {day} under MIG-{ticket}: from {old} to {new}, where {memory} GB are free."
    " {owner} stops it, copies the data, compares the checksums and starts it on {new}. The firewall gets a"
    " second rule beside {rule}, so that port {port} is open to both hosts until the old one is switched off."
    " Way back: {old} stays untouched for {hours} hours, and the name points back to it within five minutes."
    " {preparation}"
)
# What is moved, version, owner, memory in GB, downtime, remark of the user, what the assistant would prepare.
MOVED = (
    ("billing", "4.12.3", "Priya", 6, "on Sundays between 02:00 and 04:00",
     "Invoices are sent on the first of a month.", "Send no invoices on that morning."),
    ("archive", "2.0.9", "Tomas", 12, "at night", "It has 3 TB of scans.",
     "Copy the scans a week before and only the changes on the day."),
    ("mail", "3.7.1", "Yuki", 4, "for twenty minutes", "Its certificate names the old host.",
     "Order a certificate with both names now."),
    ("directory", "5.1.0", "Amara", 2, "at no time", "Everything else asks it for names.",
     "Run a second copy in the new room first."),
    ("print queue", "1.4.2", "Lars", 1, "after 18:00", "Two printers know it by its address.",
     "Give the printers its name instead."),
    ("wiki", "8.3.5", "Noor", 3, "in the evening", "Its search index is rebuilt for an hour.",
     "Move the index with the data, so that nothing is rebuilt."),
    ("time sheets", "6.0.4", "Mateo", 2, "not in the last week of a month", "Payroll reads it on the 25th.",
     "Tell payroll which day it is."),
    ("door log", "2.2.8", "Hanna", 1, "for five minutes", "The doors keep an hour of entries themselves.",
     "Compare the entries of that hour afterwards."),
    ("build farm", "9.6.0", "Deniz", 32, "at weekends", "It is the loudest of them all.",
     "Ask for two more fans in row C."),
    ("test rig", "0.9.7", "Oleg", 16, "whenever it is idle", "Nobody has its manual.",
     "Take a picture of its cables before they are pulled."),
    ("metrics", "3.3.3", "Priya", 8, "for ten minutes", "The alarms depend on it.",
     "Send the alarms to the second instance meanwhile."),
    ("backup", "7.2.1", "Tomas", 8, "in the morning", "It writes until five.",
     "Start it an hour earlier on the day before."),
    ("chat bridge", "1.9.9", "Yuki", 1, "for two minutes", "It forgets what it has not delivered.",
     "Wait until its queue is empty."),
    ("map server", "4.4.0", "Amara", 10, "at night", "It has the old floor plans.",
     "Load the new plans at the same time."),
    ("library", "2.8.6", "Lars", 2, "on Mondays", "The catalogue is printed on Tuesday.",
     "Print the catalogue a day later."),
    ("camera store", "5.5.2", "Noor", 20, "for half an hour", "The law wants no gap of more than an hour.",
     "Record on the spare disk meanwhile."),
    ("phone", "6.1.1", "Mateo", 2, "after 20:00", "The lifts call through it.",
     "Warn the lift company the day before."),
    ("forms", "3.0.2", "Hanna", 1, "at lunch time", "Half of the forms are unused.",
     "Leave the unused ones behind."),
    ("lab notes", "1.1.4", "Deniz", 4, "at weekends", "Its licence counts machines.",
     "Ask for a licence for two machines for a week."),
    ("mirror", "2.6.0", "Oleg", 6, "at any time", "It can be filled again from outside.",
     "Do not copy it: fill it anew."),
    ("calendar", "4.0.8", "Priya", 2, "at night", "The rooms are booked through it.",
     "Print the bookings of the next day."),
    ("sensor hub", "0.7.3", "Tomas", 1, "for one minute", "It has a battery.",
     "Charge the battery before."),
    ("tickets", "9.9.1", "Yuki", 5, "on Saturdays", "The helpdesk opens at seven.",
     "Answer the telephone by hand until eight."),
    ("old intranet", "1.0.0", "Amara", 1, "at any time", "It is read twice a month.",
     "Save it as plain files, and switch it off."),
)  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Saturday")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the user, and the answer with which the conversation goes on."""

    question: str
    answer: str


def write_turns(name: str) -> Sequence[Turn]:
    """Return the turns of the conversation about the move that is called ``name``."""
    turns = [Turn(GREETING.format(name=name), GREETING_ANSWER), *_write_moves()]
    turns.insert(TOLD_IN_TURN - 1, Turn(AUDIT, AUDIT_ANSWER))
    return turns


def _spell_ordinal(number: int) -> str:
    """Return a day of a month as it is written: 21st, 22nd, 23rd, but 11th."""
    ending = "th" if number in range(11, 14) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _write_moves() -> Iterator[Turn]:
    for number, row in enumerate(MOVED):
        service, version, owner, memory, downtime, remark, preparation = row
        facts = {
            "service": f"the {service}",
            "version": version,
            "owner": owner,
            "memory": memory,
            "downtime": downtime,
            "remark": remark,
            "preparation": preparation,
            "old": f"atlas-{number + 3:02d}",
            "new": f"orion-{number * 5 % 29 + 1:02d}",
            "day": f"{DAYS[number % len(DAYS)]} the {_spell_ordinal(number % 27 + 2)}",
            "ticket": 2040 + 7 * number,
            "port": 7000 + 113 * number,
            "rule": f"FW-{310 + 9 * number}",
            "hours": 24 * (number % 3 + 1),
        }
        yield Turn(ASK.format(**facts), ANSWER.format(**facts))
