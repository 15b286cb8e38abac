import { ApiProblem } from "./api-problem";
import { toast } from "./toast";

/** Awaits a call. If it fails, shows the server's reason in a toast and returns null. */
export async function attempt<T>(call: Promise<T>, title: string): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    toast({ tone: "bad", title, body: ApiProblem.from(error).title });
    return null;
  }
}
