import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { stemmer } from "stemmer";
import { ROOT } from "../../files.ts";
import type { Remembered } from "../conversations.ts";
import type { MemoryEngine, OpenEngine } from "./engine.ts";
import { STOP } from "./stop-words.ts";

const FOLDER = join(ROOT, "checks/bench/peers");

/** Brings what is compared with, where it is not there yet: it is too large for everyone who only runs the tests. */
export function bringPeers(tell: (what: string) => void): boolean {
  if (existsSync(join(FOLDER, "node_modules/minisearch"))) return true;
  tell("installing what Strata is compared with, once (about 130 MB, checks/bench/peers)");
  try {
    const flags = ["ci", "--ignore-scripts", "--omit=optional", "--omit=peer"];
    execFileSync("npm", flags, { cwd: FOLDER, stdio: ["ignore", "ignore", "pipe"] });
    return true;
  } catch (error) {
    tell(`SKIPPED: minisearch, orama and langchain could not be installed: ${String(error)}`);
    return false;
  }
}

/** Only these words of the packages' interfaces are used. */
function loaded<T>(name: string): T {
  return createRequire(join(FOLDER, "package.json"))(name);
}

/** Who said it stands in the text: questions ask by name. */
const spoken = ({ speaker, text }: Remembered): string => `${speaker}: ${text}`;

interface Mini {
  addAll(documents: readonly object[]): void;
  search(query: string): readonly { readonly id: string }[];
}
type MiniSearch = new (options: object) => Mini;

function minisearch(name: string, options: object): MemoryEngine {
  return {
    name,
    open: async (scopes) => {
      const Search = loaded<MiniSearch>("minisearch");
      const indexes = new Map<string, Mini>();
      for (const [scope, memories] of scopes) {
        const index = new Search({ fields: ["text"], ...options });
        index.addAll([...memories].map((memory) => ({ id: memory.id, text: spoken(memory) })));
        indexes.set(scope, index);
      }
      return found(async (scope, { text }, limit) =>
        (indexes.get(scope)?.search(text) ?? []).slice(0, limit).map(({ id }) => id),
      );
    },
  };
}

const STEMMED = {
  processTerm: (term: string): string | null => (STOP.has(term.toLowerCase()) ? null : stemmer(term.toLowerCase())),
};

interface Orama {
  create(options: object): unknown;
  insertMultiple(db: unknown, documents: readonly object[], batch: number): Promise<unknown>;
  search(db: unknown, query: object): Promise<{ readonly hits: readonly { readonly id: string }[] }>;
}

const orama: MemoryEngine = {
  name: "orama",
  open: async (scopes) => {
    const { create, insertMultiple, search } = loaded<Orama>("@orama/orama");
    const indexes = new Map<string, unknown>();
    for (const [scope, memories] of scopes) {
      const db = create({ schema: { text: "string" } });
      await insertMultiple(
        db,
        [...memories].map((memory) => ({ id: memory.id, text: spoken(memory) })),
        5_000,
      );
      indexes.set(scope, db);
    }
    return found(async (scope, { text: term }, limit) => {
      const { hits } = await search(indexes.get(scope), { term, limit });
      return hits.map(({ id }) => id);
    });
  },
};

interface LangChain {
  readonly BM25Retriever: {
    fromDocuments(documents: readonly object[], options: { readonly k: number }): Retriever;
  };
}
interface Retriever {
  invoke(question: string): Promise<readonly { readonly metadata: { readonly id: string } }[]>;
}

const langchain: MemoryEngine = {
  name: "langchain bm25",
  open: async (scopes) => {
    const { BM25Retriever } = loaded<LangChain>("@langchain/community/retrievers/bm25");
    const indexes = new Map<string, Retriever>();
    for (const [scope, memories] of scopes) {
      const documents = [...memories].map((memory) => ({ pageContent: spoken(memory), metadata: { id: memory.id } }));
      indexes.set(scope, BM25Retriever.fromDocuments(documents, { k: 20 }));
    }
    return found(async (scope, { text }, limit) => {
      const documents = (await indexes.get(scope)?.invoke(text)) ?? [];
      return documents.slice(0, limit).map(({ metadata }) => metadata.id);
    });
  },
};

const found = (find: OpenEngine["find"]): OpenEngine => ({ find, close: async () => {} });

/** What people use today, as they ship and as well as they can be set. */
export const PEERS: readonly MemoryEngine[] = [
  minisearch("minisearch", {}),
  minisearch("minisearch, porter, stop words", STEMMED),
  orama,
  langchain,
];
