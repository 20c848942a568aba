// The OpenAI SDK for Node as a client without a memory; the same as kept_openai.py.

import { createInterface } from "node:readline/promises";
import OpenAI from "openai";

const clients = process.env.CLIENT_URLS.split(",").map((baseURL) => new OpenAI({ baseURL }));
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
let conversation = "";
let number = 0;

async function ask(messages) {
  if (number === Number(process.env.CLIENT_PAUSE)) {
    console.log(JSON.stringify({ paused: number }));
    const lines = createInterface({ input: process.stdin });
    await lines.question("");
    lines.close();
  }
  const stream = number % 5 < 2;
  const { data, response } = await clients[Math.floor(number++ / 3) % clients.length].chat.completions
    .create(
      { model: process.env.CLIENT_MODEL, messages, tools, stream },
      { headers: conversation ? { "x-conversation-id": conversation } : {} },
    )
    .withResponse();
  conversation = response.headers.get("x-conversation-id");
  return stream ? gather(data) : data.choices[0].message;
}

async function gather(stream) {
  let content = null;
  const calls = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    if (delta?.content) content = (content ?? "") + delta.content;
    for (const { index, id } of delta?.tool_calls ?? []) if (id) calls[index] = { id };
  }
  return { content, tool_calls: calls };
}

for (let turn = 0; turn < Number(process.env.CLIENT_TURNS); turn++) {
  const preamble = turn ? [] : [{ role: "system", content: "You look after ships." }];
  let message = await ask([
    ...preamble,
    { role: "user", content: `Where does ship ${turn} lie? 어디에 있나요?` },
  ]);
  while (message.tool_calls?.length)
    message = await ask(
      message.tool_calls.map(({ id }) => ({
        role: "tool",
        tool_call_id: id,
        content: `Ship ${turn}: berth ${turn + 7}`,
      })),
    );
  console.log(JSON.stringify({ text: message.content }));
}
process.exit(0);
