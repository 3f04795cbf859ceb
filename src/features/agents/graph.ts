/** A diagram of which agent may ask which. */
import { z } from "zod";
import type { Agent, Allowed } from "../../protocol/index.ts";
import { list } from "../fields.ts";
import { type OperationContext, operation } from "../operation.ts";

const EDGE = z.object({
  from: z.string(),
  to: z.string(),
  takes: z.string().describe("The type of what the peer is asked."),
  shown: z.string().optional().describe("What the peer is shown of its caller's conversation; left out, nothing."),
  running: z.number().describe("Threads over this edge that are not answered yet, of the 200 newest."),
});
type ShownEdge = z.output<typeof EDGE>;

const GRAPH = z
  .object({
    agents: list(z.object({ name: z.string(), entry: z.boolean() })),
    edges: list(EDGE),
    mermaid: z.string().describe("The graph in the language Mermaid."),
    svg: z.string().describe("The same as a picture."),
  })
  .meta({ id: "AgentGraph" });

export const graph = operation({
  name: "agent.graph",
  does: "Draw who may ask whom, with the threads that run, in the language Mermaid or as a picture.",
  may: "operate",
  at: "GET /v1/graph",
  takes: z.object({ svg: z.boolean().default(false).describe("as an SVG picture; over HTTP, the answer has both") }),
  gives: GRAPH,
  command: { examples: ["agent graph", "agent graph --svg > graph.svg"], opens: "data" },
  run: async ({ runtime }, _, { actor }) => {
    const agents = runtime.agents(actor).filter(({ entry }) => entry !== undefined);
    const running = await runningEdges(runtime, actor, agents);
    const edges = agents.flatMap(({ name: from, peers = [] }) =>
      peers.map(({ name: to, payload, share = "none" }): ShownEdge => {
        const shown = typeof share === "string" ? share : `last ${share.last}`;
        const count = running.get(`${from} ${to}`) ?? 0;
        return { from, to, takes: payload.type, ...(shown !== "none" && { shown }), running: count };
      }),
    );
    const nodes = agents.map(({ name, entry }) => ({ name: String(name), entry: entry === true }));
    return { agents: nodes, edges, mermaid: mermaidOf(nodes, edges), svg: svgOf(nodes, edges) };
  },
  show: ({ mermaid, svg }, { given }) => (given.svg ? svg : mermaid).trimEnd().split("\n"),
});

const MOST_THREADS = 200;

/** How many threads over each edge are not answered yet. */
async function runningEdges(
  runtime: OperationContext["runtime"],
  actor: Allowed<"operate">,
  agents: readonly Agent[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { org, name } of agents) {
    const threads = await runtime.threads(actor, { org, agent: name, contact: null }, MOST_THREADS);
    for (const { caller, parties } of threads) {
      if (caller === undefined || parties?.target !== name) continue;
      const calls = await runtime.openCalls(actor, caller.thread);
      if (!calls.some(({ id, state }) => id === caller.call && state === "open")) continue;
      const edge = `${parties.initiator} ${name}`;
      counts.set(edge, (counts.get(edge) ?? 0) + 1);
    }
  }
  return counts;
}

type Node = z.output<typeof GRAPH>["agents"][number];

const labelOf = ({ takes, shown, running }: ShownEdge): string =>
  [
    takes,
    ...(shown === undefined ? [] : [shown === "fork" ? "a fork" : `shows ${shown}`]),
    ...(running === 0 ? [] : [`${running} running`]),
  ].join(" · ");

function mermaidOf(nodes: readonly Node[], edges: readonly ShownEdge[]): string {
  const ids = new Map(nodes.map(({ name }, i) => [name, `a${i + 1}`]));
  return `${[
    "flowchart LR",
    ...nodes.map(({ name, entry }) => `  ${ids.get(name)}${entry ? `(["${name}"])` : `["${name}"]`}`),
    ...nodes.flatMap(({ name, entry }) => (entry ? [`  outside((" ")) --> ${ids.get(name)}`] : [])),
    ...edges.map((edge) => `  ${ids.get(edge.from)} -- "${labelOf(edge)}" --> ${ids.get(edge.to)}`),
  ].join("\n")}\n`;
}

const BOX = { width: 150, height: 40, apart: 190, below: 76, margin: 40 };

/** Columns by how far an agent is from outside, rows in the order of the file. No script, nothing from elsewhere. */
function svgOf(nodes: readonly Node[], edges: readonly ShownEdge[]): string {
  const columns = columnsOf(nodes, edges);
  const places = new Map(
    columns.flatMap((names, column) =>
      names.map((name, row) => {
        const x = BOX.margin + column * (BOX.width + BOX.apart);
        return [name, { x, y: BOX.margin + row * (BOX.height + BOX.below) }] as const;
      }),
    ),
  );
  const width = 2 * BOX.margin + columns.length * (BOX.width + BOX.apart);
  const height = 2 * BOX.margin + Math.max(1, ...columns.map(({ length }) => length)) * (BOX.height + BOX.below);
  const boxes = nodes.map(({ name, entry }) => {
    const { x, y } = places.get(name) ?? { x: 0, y: 0 };
    const inside = `<text x="${x + BOX.width / 2}" y="${y + BOX.height / 2 + 5}" text-anchor="middle">${escaped(name)}</text>`;
    return `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="${entry ? BOX.height / 2 : 4}" fill="#f8fafc" stroke="#334155"/>${inside}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="14">`,
    "<title>Who may ask whom</title>",
    '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="#334155"/></marker></defs>',
    ...boxes,
    ...edges.map((edge) => arrow(edge, places)),
    "</svg>\n",
  ].join("\n");
}

function columnsOf(nodes: readonly Node[], edges: readonly ShownEdge[]): readonly (readonly string[])[] {
  const columns: string[][] = [];
  const placed = new Set<string>();
  let next = nodes.flatMap(({ name, entry }) => (entry ? [name] : []));
  while (placed.size < nodes.length) {
    // Agents that cannot be reached from outside start a new group.
    const [left] = nodes.filter(({ name }) => !placed.has(name));
    const column = next.length > 0 || left === undefined ? next : [left.name];
    for (const name of column) placed.add(name);
    columns.push(column);
    const reached = edges.flatMap(({ from, to }) => (column.includes(from) && !placed.has(to) ? [to] : []));
    next = [...new Set(reached)];
  }
  return columns;
}

type NodePosition = { readonly x: number; readonly y: number };

/** From the right side of one to the left side of the other; to itself or back, in a bow below. */
function arrow(edge: ShownEdge, places: ReadonlyMap<string, NodePosition>): string {
  const [from, to] = [places.get(edge.from), places.get(edge.to)];
  if (from === undefined || to === undefined) return "";
  const forward = to.x > from.x;
  const start = forward
    ? { x: from.x + BOX.width, y: from.y + BOX.height / 2 }
    : { x: from.x + BOX.width * 0.7, y: from.y + BOX.height };
  const end = forward ? { x: to.x, y: to.y + BOX.height / 2 } : { x: to.x + BOX.width * 0.3, y: to.y + BOX.height };
  const bow = forward ? 0 : BOX.below * 0.8;
  const half = forward ? (end.x - start.x) / 2 : 0;
  const path = `M${start.x} ${start.y}C${start.x + half} ${start.y + bow} ${end.x - half} ${end.y + bow} ${end.x} ${end.y}`;
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 + bow * 0.75 - 6 };
  return `<path d="${path}" fill="none" stroke="#334155" marker-end="url(#end)"/><text x="${middle.x}" y="${middle.y}" text-anchor="middle" font-size="12" fill="#475569">${escaped(labelOf(edge))}</text>`;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
