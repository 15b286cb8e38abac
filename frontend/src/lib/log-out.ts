import type { NavigateFunction } from "react-router";
import { api } from "./api-client";
import { ApiProblem } from "./api-problem";
import { queryClient } from "./query-client";
import { toast } from "./toast";

/** Ends the session and opens the login. */
export async function logOut(navigate: NavigateFunction): Promise<void> {
  try {
    await api.DELETE("/api/session");
    await navigate("/login");
    queryClient.clear();
  } catch (error) {
    toast({ tone: "bad", title: ApiProblem.from(error).title });
  }
}
