/** A failed call, in the server's own words if it sent any. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";

  /**
   * @param type A stable word, as in `wrong-state`; `unreachable` if there was no answer.
   * @param title A sentence for people.
   * @param status The HTTP status; 0 if there was no answer.
   * @param errors Sentences by field.
   * @param retryAfter Seconds to wait; null if the server gave none.
   */
  constructor(
    readonly type: string,
    readonly title: string,
    readonly status: number,
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
    readonly retryAfter: number | null = null,
  ) {
    super(title);
  }

  /** Returns the sentence about one field. */
  field(name: string): string | undefined {
    return this.errors[name]?.[0];
  }

  /** Reads the problem from a failed response. */
  static async of(response: Response): Promise<ApiProblem> {
    const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
    const retryAfter = Number.isNaN(wait) ? null : wait;
    const body: unknown = await response.json().catch(() => null);
    const { type, title, errors } = isRecord(body) ? body : {};
    return new ApiProblem(
      typeof type === "string" ? type : "unknown",
      typeof title === "string" ? title : `${response.status} ${response.statusText}`.trim(),
      response.status,
      isRecord(errors) ? (errors as Record<string, string[]>) : {},
      retryAfter,
    );
  }

  /** Converts any thrown value to a problem. */
  static from(error: unknown): ApiProblem {
    if (error instanceof ApiProblem) return error;
    return new ApiProblem("unreachable", error instanceof Error ? error.message : String(error), 0);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
