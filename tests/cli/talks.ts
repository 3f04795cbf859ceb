/** A short recording of two threads, one with tool calls, one whose contact has the last word. */
export const TALK = [
  { thread: "ann", at: "2024-05-01T09:00:00Z", from: "contact", name: "Ann", text: "Hello! My train leaves at seven." },
  { thread: "ann", at: "2024-05-01T09:00:20Z", from: "agent", text: "Good to know." },
  { thread: "ann", at: "2024-05-01T09:00:25Z", from: "agent", text: "From where?" },
  { thread: "bob", from: "contact", text: "Is flight 12 on time?" },
  { thread: "bob", from: "contact", text: "It is urgent." },
  {
    thread: "bob",
    from: "agent",
    text: "Let me look.",
    calls: [{ id: "c1", tool: "flight_status", input: { number: 12 } }],
  },
  { thread: "bob", from: "tool", id: "c1", name: "flight_status", text: "late by 20 minutes" },
  { thread: "bob", from: "agent", text: "It is 20 minutes late." },
  { thread: "ann", at: "2024-05-02T09:00:00Z", from: "contact", name: "Ann", text: "From Bern." },
];

/** Those of its lines that make one turn each: Ann's two, Bob's one. */
export const TURNS = 3;
/** Bob's turn has two requests. */
export const REQUESTS = 4;

export const TOOLS = [
  {
    name: "flight_status",
    description: "Says whether a flight is on time.",
    parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  },
];
