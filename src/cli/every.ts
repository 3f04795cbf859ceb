/** What is done again and again while a server runs, until it is to stop. */
type Work = (signal: AbortSignal) => Promise<void>;

/**
 * Does it at once and then every so many milliseconds, never twice at a time. Gives the way to stop it, which waits for its end.
 * What it throws ends the program: it tells its own trouble.
 */
export function every(milliseconds: number, work: Work): () => Promise<void> {
  const stop = new AbortController();
  let working: Promise<void> | undefined;
  const look = (): void => {
    working ??= work(stop.signal).finally(() => {
      working = undefined;
    });
  };
  const timer = setInterval(look, milliseconds);
  look();
  return async () => {
    clearInterval(timer);
    stop.abort();
    await working;
  };
}

/** Tells each trouble once. */
export function onceEach(tell: (trouble: string) => void): (trouble: string, about?: string) => void {
  const told = new Set<string>();
  return (trouble, about = trouble) => {
    if (!told.has(about)) tell(trouble);
    told.add(about);
  };
}
