import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "@/types/api";
import { ApiProblem } from "./api-problem";
import { baseUrl, urlOf } from "./url-base";

/** Types of the API by name, as in `Schema<"Session">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

type Refusal = () => void;

let refused: Refusal = () => undefined;

/** Sets the handler for an expired session: the app opens the login. */
export function onUnauthorized(handler: Refusal): void {
  refused = handler;
}

const rules: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET" && request.method !== "HEAD") request.headers.set("X-Csrf", "1");
    return request;
  },
  async onResponse({ request, response }) {
    if (!response.ok) throw await problemOf(request.method, request.url, response);
    return response;
  },
};

/** The typed client of the API. A failed call throws an {@link ApiProblem}. */
export const api = createClient<paths>({ baseUrl: baseUrl().replace(/\/$/, ""), credentials: "same-origin", fetch: reach });

api.use(rules);

/** Returns the body of an answer: `dataOf(api.GET("/api/session", { signal }))`. */
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  return data as T;
}

/** Posts a form, for uploads, and returns the JSON of the answer. */
export async function postForm<T>(path: string, form: FormData, signal: AbortSignal): Promise<T> {
  const response = await send(path, { method: "POST", body: form, signal });
  return (await response.json()) as T;
}

/** Posts JSON and yields the server-sent events of the answer as `{ event, data }`. */
export async function* postForEvents<T>(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<{ event: string; data: T }> {
  const headers = { Accept: "text/event-stream", "Content-Type": "application/json" };
  const response = await send(path, { method: "POST", body: JSON.stringify(body), headers, signal });
  if (!response.body) return;
  let text = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (text + value).split(/\r?\n\r?\n/);
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const read = readFrame(frame);
      if (read) yield { event: read.event, data: JSON.parse(read.data) as T };
    }
  }
}

function readFrame(frame: string): { event: string; data: string } | null {
  let event = "message";
  const data: string[] = [];
  for (const line of frame.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length > 0 ? { event, data: data.join("\n") } : null;
}

async function send(path: string, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
  const url = urlOf(path);
  const headers = new Headers(init.headers);
  headers.set("X-Csrf", "1");
  const response = await reach(new Request(url, { ...init, headers, credentials: "same-origin" }));
  if (!response.ok) throw await problemOf(init.method ?? "GET", url, response);
  return response;
}

async function reach(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw ApiProblem.from(error);
  }
}

async function problemOf(method: string, url: string, response: Response): Promise<ApiProblem> {
  const problem = await ApiProblem.of(response);
  const isLogin = method === "POST" && new URL(url).pathname.endsWith("/api/session");
  if (problem.status === 401 && !isLogin) refused();
  return problem;
}
