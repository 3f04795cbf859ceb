import { bundle, type Failure, type Outcome } from "./index.ts";

/** The required result of an attempt to get out of the cage, or to make the platform pay for it. */
export type Want =
  /** It gets exactly this, which is nothing. */
  | { readonly gives: unknown }
  | { readonly fails: readonly Failure[] }
  /** However it ends, this appears nowhere. */
  | { readonly hides: RegExp };

/** What stops an attempt. */
export type AttemptWall = "vm" | "fresh" | "prelude" | "cpu" | "memory" | "stack" | "output" | "asks" | "logs";

export interface Attempt {
  readonly name: string;
  readonly wall: AttemptWall;
  /** The body of the handler, with `p`, `m` and `ports`. */
  readonly body: string;
  /** Code outside of the function. */
  readonly before?: string;
  readonly want: Want;
}

export const handlerOf = ({ body, before = "" }: Pick<Attempt, "body" | "before">): string =>
  `${before};globalThis.__handler={default:async(p,m,ports)=>{${body}}}`;

/** The same as an author would write it. */
export const moduleOf = ({ body, before = "" }: Pick<Attempt, "body" | "before">): string =>
  `${before}\nexport default async (p, m, ports) => {${body}}\n`;

export function holds(want: Want, outcome: Outcome): boolean {
  if ("hides" in want) return !want.hides.test(JSON.stringify(outcome));
  if ("fails" in want) return outcome.kind === "failed" && want.fails.includes(outcome.reason);
  return outcome.kind === "returned" && outcome.value === JSON.stringify(want.gives);
}

/** Names of the world outside. None of them is there. */
const WORLD =
  "process require module fetch WebAssembly WebSocket setTimeout setInterval setImmediate console navigator Buffer global crypto MessageChannel BroadcastChannel structuredClone FormData Request Response Blob AbortController EventTarget URL TextDecoder".split(
    " ",
  );

/** Ways to a scope that is not the handler's own. */
const WAYS = {
  "the Function constructor": "Function('return typeof process')()",
  "a constructor of a constructor": "(()=>{}).constructor.constructor('return typeof process')()",
  "the constructor of async functions": "await (async()=>{}).constructor('return typeof process')()",
  "the constructor of generators": "(function*(){}).constructor('yield typeof process')().next().value",
  "indirect eval": "(0,eval)('typeof process')",
  "the constructor of a port": "ports.log.constructor('return typeof process')()",
  "the constructor of the other port": "await ports.complete.constructor('return typeof process')()",
  "Reflect.construct": "Reflect.construct(Function,['return typeof process'])()",
  "sloppy this": "Function('return typeof this.process').call(null)",
  "globalThis of eval": "typeof eval('globalThis').process",
};

const MODULES = [
  "node:fs",
  "fs",
  "node:child_process",
  "data:text/javascript,export default 1",
  "qjs:std",
  "qjs:os",
  "std",
  "./handler.js",
  "file:///etc/passwd",
  "https://example.org/a.js",
];

const ESCAPES: readonly Attempt[] = [
  ...WORLD.map((name) => ({
    name: `finds ${name}`,
    wall: "vm" as const,
    body: `return typeof ${name}`,
    want: { gives: "undefined" },
  })),
  ...Object.entries(WAYS).map(([way, code]) => ({
    name: `finds process by ${way}`,
    wall: "vm" as const,
    body: `return ${code}`,
    want: { gives: "undefined" },
  })),
  ...MODULES.map((name) => ({
    name: `imports ${name}`,
    wall: "vm" as const,
    body: `return await import(${JSON.stringify(name)}).then(()=>'in',()=>'no')`,
    want: { hides: /"in\b|\\"in\\"/ },
  })),
];

/** The handler changes what the platform's own code in the VM might use. */
const TAMPERED: readonly Attempt[] = (
  [
    ["replaces JSON", "JSON.stringify=()=>'\"forged\"'; JSON.parse=()=>({}); return 'honest'", { gives: "honest" }],
    [
      "replaces Object.freeze",
      "Object.freeze=(x)=>x; try{ports.history.push(1)}catch{return 'kept'} return ports.history.length===0?'kept':'grown'",
      { gives: "kept" },
    ],
    [
      "adds a slot to its history",
      "ports.history.push({role:'user',payload:'forged'}); return ports.history.length",
      { fails: ["threw"] },
    ],
    ["writes in its metadata", "m.own_name='operator'; return m.own_name", { hides: /"operator/ }],
    ["replaces a port", "ports.complete=async()=>'forged'; return 1", { hides: /forged/ }],
    [
      "looks for the prelude's names",
      "return [typeof __ask, typeof __log, typeof __end, typeof __load]",
      { gives: ["undefined", "undefined", "undefined", "undefined"] },
    ],
    [
      "ends itself before its end",
      "globalThis.__end?.('returned','\"forged\"',''); return 'honest'",
      { gives: "honest" },
    ],
    [
      "replaces String and Array",
      "String=()=>'forged'; Array.prototype[Symbol.iterator]=function*(){yield 'forged'}; ports.log('a','b'); return 'honest'",
      { gives: "honest" },
    ],
    [
      "replaces Error",
      "globalThis.Error=class{constructor(){return {message:'forged'}}}; return 'honest'",
      { gives: "honest" },
    ],
    [
      "listens to promises",
      "const seen=[],t=Promise.prototype.then; Promise.prototype.then=function(...a){seen.push(String(a[0]).slice(0,60)); return t.apply(this,a)}; ports.complete({message:'x'}); await null; return seen",
      { hides: /file:|node_modules|postMessage/ },
    ],
    [
      "reads its caller",
      "return [String((function f(){try{return f.caller}catch{return null}})()), typeof arguments]",
      { hides: /__ask|stringify|postMessage/ },
    ],
    [
      "reads the frames of an error",
      "Error.prepareStackTrace=(e,s)=>s.map(f=>String(f.getFunction?.()??f)); Error.stackTraceLimit=1e9; return new Error('x').stack",
      { hides: /slice\.ts|node_modules|file:/ },
    ],
    [
      "reads the source of a port",
      "return [String(ports.log), String(ports.complete)]",
      { hides: /postMessage|resolve\(vm/ },
    ],
    [
      "pollutes the prototypes by its answer",
      'return JSON.parse(\'{"__proto__":{"admin":true}}\')',
      { hides: /nothing is hidden here/ },
    ],
    ["returns a thenable that never ends", "return {then(){}}", { fails: ["stuck"] }],
    ["waits for nothing", "await new Promise(()=>{})", { fails: ["stuck"] }],
    ["returns a function", "return ()=>1", { gives: null }],
    ["returns a symbol", "return Symbol.iterator", { gives: null }],
    ["returns a BigInt", "return 1n", { fails: ["threw"] }],
    ["returns a circle", "const o={}; o.o=o; return o", { fails: ["threw", "stack"] }],
    ["throws nothing", "throw undefined", { fails: ["threw"] }],
    ["throws a symbol", "throw Symbol('x')", { fails: ["threw"] }],
    ["throws an error of a limit", "throw new Error('it used more than 1 ms of CPU time')", { fails: ["threw"] }],
    ["has no default export", "", { gives: null }],
    ["stops the thread", "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)),0,0); return 1", { fails: ["threw"] }],
    ["tells the time", "return [Date.now(), new Date(0).getTimezoneOffset()]", { gives: [1_700_000_000_000, 0] }],
    ["measures", "const a=performance.now(); for(let i=0;i<1e5;i++); return performance.now()-a", { gives: 0 }],
    ["speaks in lone surrogates", "return '\\ud800\\u0000\\udfff'", { hides: /nothing is hidden here/ }],
    [
      "asks for another port",
      "return await ports.complete.call({port:'fetch'},{port:'fetch',request:{port:'fetch'}}).then(()=>1)",
      { hides: /"port":"fetch","request/ },
    ],
  ] as const
).map(([name, body, want]) => ({ name, body, want: want as Want, wall: "prelude" as const }));

const FRESH: readonly Attempt[] = [
  { name: "counts its calls", wall: "fresh", body: "return globalThis.n=(globalThis.n??0)+1", want: { gives: 1 } },
  { name: "counts them again", wall: "fresh", body: "return globalThis.n=(globalThis.n??0)+1", want: { gives: 1 } },
  {
    name: "leaves a trap in a prototype",
    wall: "fresh",
    body: "Object.prototype.leak='L'; return 1",
    want: { gives: 1 },
  },
  { name: "finds the trap", wall: "fresh", body: "return ({}).leak??null", want: { gives: null } },
  { name: "counts in its module", wall: "fresh", before: "let n=0", body: "return ++n", want: { gives: 1 } },
];

const limit = (
  wall: AttemptWall,
  fails: readonly Failure[],
  attempts: Readonly<Record<string, string>>,
): readonly Attempt[] => Object.entries(attempts).map(([name, body]) => ({ name, wall, body, want: { fails } }));

const COSTLY: readonly Attempt[] = [
  {
    name: "loops while it is loaded",
    wall: "cpu",
    before: "for(let i=0;i<1e7;i++);",
    body: "return 1",
    want: { fails: ["cpu"] },
  },
  ...limit("cpu", ["cpu"], {
    loops: "for(;;);",
    "loops for long": "for(let i=0;i<1e7;i++); return 1",
    "floods the microtasks": "const f=()=>Promise.resolve().then(f); await f()",
    "floods them by await": "for(;;) await null",
    "loops in a generator": "const g=(function*(){for(;;) yield 1})(); for(const _ of g);",
    "loops in an async generator": "for await (const _ of (async function*(){for(;;) yield 1})());",
    "loops in the getter of its error's message": "throw {get message(){for(;;);}}",
    "loops in the getter of its error's stack":
      "const e=new Error('a'); Object.defineProperty(e,'stack',{get(){for(;;);}}); throw e",
    "throws a proxy that loops": "throw new Proxy({}, {get(){for(;;);}})",
    "loops in toJSON": "return {toJSON(){for(;;);}}",
    "loops in a getter of its answer": "return {get a(){for(;;);}}",
    "loops in a proxy of its answer": "return new Proxy({}, {ownKeys(){for(;;);}})",
    "loops in the thenable it returns": "return {then(){for(;;);}}",
    "loops in toString of a log": "ports.log({toJSON(){for(;;);}}); return 1",
    "loops in the question": "await ports.complete({get message(){for(;;);}})",
    "loops in valueOf": "return +{valueOf(){for(;;);}}",
    "loops in a comparison": "[1,2,3].sort(()=>{for(;;);})",
    "loops in replace": "'a'.replace(/a/,()=>{for(;;);})",
    "loops in a reviver": "JSON.parse('[1]',()=>{for(;;);})",
    "tracks back in a pattern": "return /^(a+)+$/.test('a'.repeat(40)+'b')",
    "tracks back in another": "return /(x+x+)+y/.test('x'.repeat(60))",
    "seeks in 2**53 places": "return Array.prototype.indexOf.call({length:2**53-1},1)",
    "turns 2**53 places around": "return Array.prototype.reverse.call({length:2**53-1})",
    "copies within 2**53 places": "return Array.prototype.copyWithin.call({length:2**53-1},1,0)",
    "fills 2**53 places": "return Array.prototype.includes.call({length:2**53-1},1)",
    "sorts for ever": "const a=new Uint8Array(4e6); for(;;) a.sort().reverse()",
    "seeks a long text for ever": "const s='a'.repeat(2e6),t='a'.repeat(1e6)+'b'; for(;;) s.indexOf(t)",
    "compiles for ever": "for(;;) Function('return 1')",
    "throws for ever": "for(;;) try{ throw 1 }catch{}",
    "catches the interruption": "for(;;) try{ for(;;); }catch{}",
    "catches it in a promise": "const f=()=>{ try{ for(;;); } finally { f() } }; f()",
  }),
  ...limit("cpu", ["cpu", "memory", "threw", "stack"], {
    "squares for ever": "let x=3n; for(;;) x=x*x",
    "joins 2**32 places": "return Array.prototype.join.call({length:2**32-2},'').length",
    "raises to a great power": "return String(2n**(2n**24n)).length",
  }),
  ...limit("memory", ["memory", "cpu", "threw"], {
    "keeps arrays": "const a=[]; for(;;) a.push(new Array(1000).fill(1))",
    "doubles a text": "let s='x'.repeat(100); const k=[]; for(;;) k.push(s+=s)",
    "takes 64 MB at once": "return new ArrayBuffer(64*2**20).byteLength",
    "takes 1 GB at once": "return new ArrayBuffer(2**30).byteLength",
    "keeps a map": "const q=new Map; for(let i=0;;i++) q.set({},{})",
    "keeps promises": "const a=[]; for(;;) a.push(new Promise(()=>{}))",
    "keeps closures": "let f=()=>0; for(;;) { const g=f; f=()=>g; }",
    "keeps symbols": "const a=[]; for(;;) a.push(Symbol('x'.repeat(1000)))",
    "repeats a text": "return 'x'.repeat(2**29).length",
    "pads a text": "return ''.padEnd(2**29,'abc').length",
    "fills a typed array": "return new Float64Array(1e8).length",
    "keeps regular expressions": "const a=[]; for(let i=0;;i++) a.push(new RegExp('a'.repeat(1000)+i))",
  }),
  ...limit("stack", ["stack", "threw", "cpu"], {
    "calls itself": "const f=()=>f()+1; return f()",
    "calls itself by a getter": "const o={get a(){return o.a}}; return o.a",
    "calls itself by a proxy": "let p=new Proxy({}, {get:(_,k,r)=>r[k]}); return p.a",
    "calls itself by toString": "const a={toString(){return [a,a].sort()+''}}; return ''+a",
    "answers with what is nested too deep": "let o={}; for(let i=0;i<3e4;i++) o={o}; return o",
    "parses what is nested too deep": "return JSON.parse('['.repeat(1e5)+']'.repeat(1e5))",
    "compiles what is nested too deep": "return Function('return '+'('.repeat(1e5)+'1'+')'.repeat(1e5))()",
    "nests a pattern too deep": "return new RegExp('('.repeat(2e4)+')'.repeat(2e4)).test('')",
    "resolves to itself": "return {then(r){ r(this) }}",
  }),
  ...limit("output", ["output", "memory"], {
    "answers with a megabyte": "return 'x'.repeat(1e6)",
    "answers with many members": "return Array.from({length:1e4},(_, i)=>'member '+i)",
    "asks a megabyte": "await ports.complete({message:'y'.repeat(1e6)})",
    "answers with escapes": "return '\\u0001'.repeat(2e4)",
  }),
  ...limit("asks", ["asks", "memory"], {
    "asks a thousand times at once":
      "await Promise.all(Array.from({length:1e3},(_, i)=>ports.complete({message:String(i)})))",
    "asks for ever": "for(;;) await ports.complete({message:'again'})",
    "asks without waiting": "for(let i=0;i<100;i++) ports.complete({message:'x'}); return 1",
  }),
  ...limit("logs", ["logs", "memory"], {
    "logs ten thousand lines": "for(let i=0;i<1e4;i++) ports.log('x'); return 1",
    "logs a megabyte": "ports.log('x'.repeat(1e6)); return 1",
    "logs many words": "ports.log(...Array.from({length:5e3},(_, i)=>i)); return 1",
  }),
];

/** The attempts of a hostile handler. At each level, none succeeds; without its wall, each does. */
export const ATTEMPTS: readonly Attempt[] = [...ESCAPES, ...TAMPERED, ...FRESH, ...COSTLY];

/** The bundle of a handler that is written as it should be. @throws Error with the first problem */
export function bundled(file: string, folder: string): { readonly code: string; readonly map: string } {
  const made = bundle(file, folder);
  if ("problems" in made) throw new Error(made.problems.join("; "));
  return made;
}
