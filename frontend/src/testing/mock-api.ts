import { vi } from "vitest";

/** What a mocked call answers: JSON with 200, or a whole answer. */
export type Answer = Response | object | ((request: Request) => Response | object | Promise<Response | object>);

/** Answers calls by method and path, as in `{ "GET /api/session": { user: "admin" } }`; others are 404. The answer lists the calls so far. */
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

/** An error as the server answers it. */
export function problem(status: number, type: string, title: string, errors?: Record<string, string[]>, headers?: Record<string, string>): Response {
  return new Response(JSON.stringify({ type, title, status, errors }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });
}
