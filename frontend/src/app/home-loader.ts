import { askAhead } from "@/features/home/api/home-query";

const patienceMs = 150;

/**
 * Sends the request of Home together with that of the guard, before its scripts have come, and waits for the answer for at most
 * 150 ms: a page that has it at its first render draws no skeleton. After that the shell around it is worth more than one render less.
 */
export async function homeLoader() {
  const answers = askAhead();
  await Promise.race([answers, new Promise((done) => setTimeout(done, patienceMs))]);
  return null;
}
