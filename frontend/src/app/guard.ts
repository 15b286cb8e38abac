import { type LoaderFunctionArgs, redirect } from "react-router";
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

/** Lets in those with a session. Without one the way is the setup or the login. */
export async function guard({ request, url }: LoaderFunctionArgs & { url?: URL }) {
  try {
    return await queryClient.ensureQueryData(sessionQuery);
  } catch (error) {
    const problem = ApiProblem.from(error);
    if (problem.status !== 401 && problem.status !== 503) throw error;
    const setup = await queryClient.fetchQuery({ ...setupQuery, staleTime: 0 });
    if (!setup.complete) throw redirect("/setup");
    if (problem.status === 503) throw error;
    const asked = url ?? new URL(request.url);
    throw redirect(loginPath(asked.pathname + asked.search));
  }
}
