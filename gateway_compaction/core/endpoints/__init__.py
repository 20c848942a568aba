"""Endpoints: a request's body read as chat messages, and changed chat messages written back into it.

Clients speak three endpoints: Chat Completions, Anthropic's Messages and OpenAI's Responses. All of
``core`` knows one form of a conversation, that of Chat Completions. Each module here reads the body of one
endpoint into a ``WireConversation`` and writes what was planned into the field that holds its messages
(``messages`` or ``input``): ``chat``, ``anthropic_messages``, ``openai_responses``; ``read`` chooses.
``sizes`` tells of most bodies how large they are before anything is read.

What is not changed is written as the very object that came in, so that what a provider has cached stays the
same to the byte. What cannot be read for certain, or is kept by the provider, is left alone, and the reason
is said (``WireConversation.left_alone``).

Its words: an *item* is an entry of the body's field; an *origin* the number of the chat message that a
message was read as, which its changed copies still carry. Imports ``conversation``.
"""
