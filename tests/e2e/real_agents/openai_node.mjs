// OpenAI's SDK for Node.js on the Responses API: node openai_node.mjs FOLDER BASE_URL MODEL CASE. Prints what came of the case as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, baseURL, model, name] = process.argv.slice(2);
const from = createRequire(pathToFileURL(`${folder}/node_modules/`));
const OpenAI = from("openai").default;
const { zodTextFormat } = from("openai/helpers/zod");
const { z } = from("zod");
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 60_000 });

const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return { status: error.status, code: error.code, param: error.param };
  }
  throw new Error("no error where one was expected");
};
const all = async (page) => {
  const found = [];
  for await (const each of page) found.push(each);
  return found;
};
const tools = [{ type: "function", name: "look_up", description: "weather", strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }];

const cases = {
  async create() {
    const first = await client.responses.create({ model, input: "a", instructions: "Be brief.", metadata: { k: "v" }, temperature: 0.5 });
    const second = await client.responses.create({ model, input: "b", previous_response_id: first.id });
    return { texts: [first.output_text, second.output_text], metadata: first.metadata, temperature: first.temperature,
      instructions: second.instructions, previous: second.previous_response_id === first.id };
  },
  async create_streamed() {
    const types = [];
    let text = "";
    for await (const event of await client.responses.create({ model, input: "a", stream: true })) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    return { first: types[0], last: types.at(-1), text };
  },
  async stream() {
    const stream = client.responses.stream({ model, input: "a" });
    let text = "";
    stream.on("response.output_text.delta", (event) => (text += event.delta));
    const final = await stream.finalResponse();
    return { text, final: final.output_text, status: final.status };
  },
  // With the calls run here, the history being the ids of the response before or all items.
  async tools(chained) {
    let input = [{ role: "user", content: "Which is sunnier?" }];
    let previous;
    const called = [];
    for (let turn = 0; turn < 10; ++turn) {
      const stream = client.responses.stream({ model, input, tools, previous_response_id: previous, store: chained,
        include: chained ? undefined : ["reasoning.encrypted_content"] });
      const response = await stream.finalResponse();
      const calls = response.output.filter((item) => item.type === "function_call");
      if (calls.length === 0) return { called, answer: response.output_text };
      const outputs = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: "sunny" }));
      called.push(...calls.map((call) => JSON.parse(call.arguments).city));
      input = chained ? outputs : [...input, ...response.output, ...outputs];
      previous = chained ? response.id : undefined;
    }
    throw new Error("the model calls tools without end");
  },
  tools_chained: () => cases.tools(true),
  tools_whole: () => cases.tools(false),
  async parse() {
    const Weather = z.object({ city: z.string(), degrees: z.number() });
    const parsed = await client.responses.parse({ model, input: "a", text: { format: zodTextFormat(Weather, "weather") } });
    return parsed.output_parsed;
  },
  async parse_refused() {
    const Weather = z.object({ city: z.string() });
    return failure(client.responses.parse({ model, input: "a", text: { format: zodTextFormat(Weather, "weather") } }));
  },
  async kept() {
    const first = await client.responses.create({ model, input: [{ role: "user", content: "a" }, { role: "user", content: "b" }, { role: "user", content: "c" }] });
    const again = await client.responses.retrieve(first.id);
    const items = await all(client.responses.inputItems.list(first.id, { limit: 1, order: "asc" }));
    await client.responses.delete(first.id);
    return { same: JSON.stringify(again) === JSON.stringify(first), items: items.map((item) => item.content[0].text),
      ids: new Set(items.map((item) => item.id)).size, gone: await failure(client.responses.retrieve(first.id)),
      unknown: await failure(client.responses.create({ model, input: "d", previous_response_id: first.id })) };
  },
  async background() {
    let response = await client.responses.create({ model, input: "a", background: true });
    const begun = response.status;
    while (["queued", "in_progress"].includes(response.status)) response = await client.responses.retrieve(response.id);
    const events = [];
    for await (const event of await client.responses.retrieve(response.id, { stream: true, starting_after: 1 })) events.push(event.sequence_number);
    return { begun, status: response.status, text: response.output_text, events: events.slice(0, 2) };
  },
  async cancel() {
    const begun = await client.responses.create({ model, input: "a", background: true });
    const cancelled = await client.responses.cancel(begun.id);
    return { status: cancelled.status, again: (await client.responses.cancel(begun.id)).status, kept: (await client.responses.retrieve(begun.id)).status };
  },
  async conversations() {
    const made = await client.conversations.create({ items: [{ type: "message", role: "user", content: "Remember APPLE." }], metadata: { k: "v" } });
    const response = await client.responses.create({ model, input: "Which word?", conversation: made.id });
    const items = await all(client.conversations.items.list(made.id, { order: "asc" }));
    const item = await client.conversations.items.retrieve(items[0].id, { conversation_id: made.id });
    await client.conversations.items.delete(items[0].id, { conversation_id: made.id });
    const left = await all(client.conversations.items.list(made.id, { order: "asc" }));
    const updated = await client.conversations.update(made.id, { metadata: { k: "w" } });
    const deleted = await client.conversations.delete(made.id);
    return { text: response.output_text, conversation: response.conversation.id === made.id, items: items.map((each) => each.role),
      first: item.content[0].text, left: left.length, metadata: updated.metadata, deleted: deleted.deleted,
      gone: (await failure(client.conversations.retrieve(made.id))).status };
  },
};

console.log(JSON.stringify(await cases[name]()));
