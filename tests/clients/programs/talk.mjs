// What every Node client says and does; the same as talk.py.

export const MODEL = process.env.CLIENT_MODEL;
export const TURNS = Number(process.env.CLIENT_TURNS);
export const SYSTEM = "You look after ships. Look before you answer.";
export const TOOL = "look";
export const ABOUT = "Look where a ship lies.";
export const PARAMETERS = {
  type: "object",
  properties: { ship: { type: "integer" }, words: { type: "integer" } },
  required: ["ship", "words"],
  additionalProperties: false,
};
export const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export const question = (turn) =>
  `Where does ship ${turn} of ${process.env.CLIENT_MARK} lie, and who has seen it there? Please be exact about the berth.`;
export const hasImage = (turn) => turn === 1;
export const look = ({ ship, words }) =>
  `Ship ${ship}: ` + Array.from({ length: Math.floor(words / 2) }, (_, n) => `berth ${ship + n}`).join(" ");
export const tell = (text) => console.log(JSON.stringify({ text }));
