import { ApiProblem } from "./api-problem";
import { toast } from "./toast";

/** Waits for a call. Where it fails, a toast says so in the server's words, and the answer is null. */
export async function attempt<T>(call: Promise<T>, title: string): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    toast({ tone: "bad", title, body: ApiProblem.from(error).title });
    return null;
  }
}
