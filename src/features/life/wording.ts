/** What a model reads about how its agent is. `tests/house/golden/wording.txt` lists all of it. */

/** The occasion of a turn of its own, in the platform's words only. */
export const OCCASION =
  "You started this turn yourself; it is not about a message. Follow your layers, then report what you did in one sentence.";
/** For an agent without a layer that says it. The sentence is stored, so it says when that was so. */
export const waited = (messages: number): string =>
  `When it began, ${messages === 1 ? "1 message was waiting for a turn of its" : `${messages} messages were waiting for turns of their`} own; this turn answers nobody.`;

export const balanceLine = (dollars: number): string => `balance: ${dollars.toFixed(dollars < 1 ? 4 : 2)} US dollars`;
export const runwayLine = (hours: number): string =>
  `runway: ${hours < 1 ? "less than 1 hour" : hours < 2 ? "1 hour" : `${Math.floor(hours)} hours`}`;
export const nativeLine = (coins: string, milliseconds: number): string =>
  `native balance: ${coins} in its native coin, read ${ago(milliseconds)}`;

/** To the minute, and to the hour or day for older times, so that the text stays the same for a while. */
function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute ago";
  if (minutes < 120) return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`;
}
