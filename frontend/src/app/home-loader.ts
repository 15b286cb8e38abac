import { askAhead } from "@/features/home/api/home-query";

const patienceMs = 150;

/**
 * Sends the request of Home together with that of the guard, before its scripts arrive, and waits at most 150 ms for the answer. A page that has
 * it at its first render draws no skeleton. After that, the shell around the page is worth more than one saved render.
 */
export async function homeLoader() {
  const answers = askAhead();
  await Promise.race([answers, new Promise((done) => setTimeout(done, patienceMs))]);
  return null;
}
