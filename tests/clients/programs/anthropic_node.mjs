// The Anthropic SDK for Node: whole answers and the stream helper.

import Anthropic from "@anthropic-ai/sdk";
import * as talk from "./talk.mjs";

const client = new Anthropic();
const ask = {
  model: talk.MODEL,
  max_tokens: 1024,
  system: talk.SYSTEM,
  tools: [{ name: talk.TOOL, description: talk.ABOUT, input_schema: talk.PARAMETERS }],
};
const messages = [];
let number = 0;
for (let turn = 0; turn < talk.TURNS; turn++) {
  const content = [{ type: "text", text: talk.question(turn) }];
  if (talk.hasImage(turn))
    content.push({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: talk.IMAGE },
    });
  messages.push({ role: "user", content });
  for (;;) {
    const message =
      number++ % 2 === 0
        ? await client.messages.create({ ...ask, messages })
        : await client.messages.stream({ ...ask, messages }).finalMessage();
    messages.push({ role: "assistant", content: message.content });
    const results = message.content
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ type: "tool_result", tool_use_id: block.id, content: talk.look(block.input) }));
    if (!results.length) {
      talk.tell(message.content.map((block) => block.text ?? "").join(""));
      break;
    }
    messages.push({ role: "user", content: results });
  }
}
