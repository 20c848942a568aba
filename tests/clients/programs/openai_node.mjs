// The OpenAI SDK for Node on Chat Completions and Responses: whole answers and the stream helper.

import OpenAI from "openai";
import * as talk from "./talk.mjs";

const client = new OpenAI();
const described = { name: talk.TOOL, description: talk.ABOUT, parameters: talk.PARAMETERS };

async function chat() {
  const ask = { model: talk.MODEL, tools: [{ type: "function", function: described }] };
  const messages = [{ role: "system", content: talk.SYSTEM }];
  let number = 0;
  for (let turn = 0; turn < talk.TURNS; turn++) {
    const content = [{ type: "text", text: talk.question(turn) }];
    if (talk.hasImage(turn))
      content.push({ type: "image_url", image_url: { url: `data:image/png;base64,${talk.IMAGE}` } });
    messages.push({ role: "user", content });
    for (;;) {
      const done =
        number++ % 2 === 0
          ? await client.chat.completions.create({ ...ask, messages })
          : await client.chat.completions.stream({ ...ask, messages }).finalChatCompletion();
      const { role, content: text, tool_calls: calls } = done.choices[0].message;
      messages.push(calls?.length ? { role, content: text, tool_calls: calls } : { role, content: text });
      for (const call of calls ?? [])
        messages.push({
          role: "tool",
          tool_call_id: call.id,
          content: talk.look(JSON.parse(call.function.arguments)),
        });
      if (!calls?.length) {
        talk.tell(text);
        break;
      }
    }
  }
}

async function responses() {
  const ask = {
    model: talk.MODEL,
    instructions: talk.SYSTEM,
    store: false,
    tools: [{ type: "function", strict: true, ...described }],
  };
  const input = [];
  let number = 0;
  for (let turn = 0; turn < talk.TURNS; turn++) {
    const content = [{ type: "input_text", text: talk.question(turn) }];
    if (talk.hasImage(turn))
      content.push({ type: "input_image", image_url: `data:image/png;base64,${talk.IMAGE}`, detail: "auto" });
    input.push({ role: "user", content });
    for (;;) {
      const done =
        number++ % 2 === 0
          ? await client.responses.create({ ...ask, input })
          : await client.responses.stream({ ...ask, input }).finalResponse();
      const calls = done.output.filter((item) => item.type === "function_call");
      for (const { parsed_arguments, ...item } of done.output) input.push(item);
      for (const call of calls)
        input.push({
          type: "function_call_output",
          call_id: call.call_id,
          output: talk.look(JSON.parse(call.arguments)),
        });
      if (!calls.length) {
        talk.tell(done.output_text);
        break;
      }
    }
  }
}

await { chat, responses }[process.argv[2]]();
