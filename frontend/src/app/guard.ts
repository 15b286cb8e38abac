import { type LoaderFunctionArgs, redirect } from "react-router";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { queryClient } from "@/lib/query-client";
import { sessionQuery, setupQuery } from "@/lib/session";

/** Returns the address of the login, with the way back. */
export function loginPath(from: string): string {
  return from === "/" || from === "" ? "/login" : `/login?return=${encodeURIComponent(from)}`;
}

/** Returns the address that the login leads to, restricted to paths of this app. */
export function returnPath(search: URLSearchParams): string {
  const path = search.get("return") ?? "/";
  return /^\/(?![/\\])/.test(path) ? path : "/";
}

/** Redirects to the rescue page if the server is in safe mode, because it answers nothing else then. */
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

/** Loads the progress of the setup. Redirects to the rescue page in safe mode. */
export async function fetchSetup() {
  try {
    return await queryClient.fetchQuery({ ...setupQuery, staleTime: 0 });
  } catch (error) {
    await leadToRescue(ApiProblem.from(error));
    throw error;
  }
}

/** Redirects to the rescue page in safe mode, because the server refuses logins then. Any other failure still shows the login. */
export async function guardLogin() {
  try {
    await fetchSetup();
  } catch (error) {
    if (error instanceof Response) throw error;
  }
  return null;
}

/** Requires a session; redirects to the setup or the login without one. */
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
