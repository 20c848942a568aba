// The Vercel AI SDK with its providers for both of OpenAI's APIs, for compatible ones, and for Anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import * as talk from "./talk.mjs";

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, CLIENT_URL: url } = process.env;
const model = {
  chat: () => createOpenAI({ baseURL, apiKey }).chat(talk.MODEL),
  responses: () => createOpenAI({ baseURL, apiKey })(talk.MODEL),
  compatible: () => createOpenAICompatible({ name: "gateway", baseURL, apiKey })(talk.MODEL),
  messages: () => createAnthropic({ baseURL: `${url}/v1`, apiKey })(talk.MODEL),
}[process.argv[2]]();
const look = tool({
  description: talk.ABOUT,
  inputSchema: jsonSchema(talk.PARAMETERS),
  execute: async (asked) => talk.look(asked),
});
const messages = [];
for (let turn = 0; turn < talk.TURNS; turn++) {
  const content = [{ type: "text", text: talk.question(turn) }];
  if (talk.hasImage(turn)) content.push({ type: "file", data: talk.IMAGE, mediaType: "image/png" });
  messages.push({ role: "user", content });
  const ask = {
    model,
    messages,
    tools: { look },
    system: talk.SYSTEM,
    stopWhen: stepCountIs(8),
    maxRetries: 0,
    providerOptions: { openai: { store: false } },
  };
  const done = turn % 2 === 0 ? await generateText(ask) : streamText(ask);
  const text = await done.text;
  messages.push(...(await done.response).messages);
  talk.tell(text);
}
