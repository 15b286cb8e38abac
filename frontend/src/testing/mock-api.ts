import { vi } from "vitest";

/** The answer to a mocked call: JSON with status 200, or a complete response. */
export type Answer = Response | object | ((request: Request) => Response | object | Promise<Response | object>);

/** Answers calls by method and path, as in `{ "GET /api/session": { user: "admin" } }`; others get 404. Returns the growing list of calls. */
export function mockApi(answers: Record<string, Answer>): Request[] {
  const calls: Request[] = [];
  vi.stubGlobal("fetch", async (input: Request | string | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    calls.push(request.clone());
    const answer = answers[`${request.method} ${new URL(request.url).pathname}`];
    const made = typeof answer === "function" ? await answer(request) : answer;
    if (made instanceof Response) return typeof answer === "function" ? made : made.clone();
    return made ? Response.json(made) : problem(404, "not-found", "There is no such thing.");
  });
  return calls;
}

/** Creates an error like those of the server. */
export function problem(status: number, type: string, title: string, errors?: Record<string, string[]>, headers?: Record<string, string>): Response {
  return new Response(JSON.stringify({ type, title, status, errors }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });
}
