import { type LoaderFunctionArgs, redirect } from "react-router";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { queryClient } from "@/lib/query-client";
import { sessionQuery, setupQuery } from "@/lib/session";

/** The login, with the way back. */
export function loginPath(from: string): string {
  return from === "/" || from === "" ? "/login" : `/login?return=${encodeURIComponent(from)}`;
}

/** Where the login leads: a path of this app, and nothing else. */
export function returnPath(search: URLSearchParams): string {
  const path = search.get("return") ?? "/";
  return /^\/(?![/\\])/.test(path) ? path : "/";
}

/** Leads to the rescue if the server is in safe mode, which answers nothing else. */
async function leadToRescue(problem: ApiProblem): Promise<void> {
  if (problem.status === 503 && (await isSafeMode())) throw redirect("/rescue");
}

async function isSafeMode(): Promise<boolean> {
  try {
    await dataOf(api.GET("/api/rescue"));
    return true;
  } catch {
    return false;
  }
}

/** How far the setup is. In safe mode the way is the rescue. */
export async function fetchSetup() {
  try {
    return await queryClient.fetchQuery({ ...setupQuery, staleTime: 0 });
  } catch (error) {
    await leadToRescue(ApiProblem.from(error));
    throw error;
  }
}

/** Leads from the login to the rescue in safe mode, in which nobody can log in. Any other failure leaves the login as it is. */
export async function guardLogin() {
  try {
    await fetchSetup();
  } catch (error) {
    if (error instanceof Response) throw error;
  }
  return null;
}

/** Lets in those with a session. Without one the way is the setup or the login. */
export async function guard({ request, url }: LoaderFunctionArgs & { url?: URL }) {
  try {
    return await queryClient.ensureQueryData(sessionQuery);
  } catch (error) {
    const problem = ApiProblem.from(error);
    if (problem.status !== 401 && problem.status !== 503) throw error;
    const setup = await fetchSetup();
    if (!setup.complete) throw redirect("/setup");
    if (problem.status === 503) throw error;
    const asked = url ?? new URL(request.url);
    throw redirect(loginPath(asked.pathname + asked.search));
  }
}
