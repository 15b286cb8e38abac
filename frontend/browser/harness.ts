import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";

const here = import.meta.dirname;
const serverPath = process.env.SLUICE_SERVER ?? path.resolve(here, "../../backend/src/Server/bin/Release/net10.0/Sluice.Server");
const mockPath = process.env.SLUICE_MOCK ?? path.resolve(here, "../../tools/MockNntpServer/bin/Release/net10.0/Sluice.Tools.MockNntpServer");
// The headless shell is the same engine without windows, so the tests take 0.6 of the CPU time.
const headlessShell = "/usr/bin/chromium-headless-shell";
const chromiumPath = process.env.SLUICE_CHROMIUM ?? (existsSync(headlessShell) ? headlessShell : "/usr/bin/chromium");
const readyMs = 30_000;

/** The setup code of every server that starts here. */
export const setupCode = "browser-test";

/** The login that {@link setUp} creates. */
export const account = { user: "admin", password: "correct horse battery" };

/** A server process with a data folder of its own. */
export interface RunningServer {
  /** For example `http://127.0.0.1:41234`, with the URL base and without a trailing slash. */
  url: string;
  /** Process id; changes with a restart. */
  readonly pid: number;
  /**
   * Stops the process and starts another one on the same data. `meanwhile` runs in between with the data folder; `line` is a shell command that
   * starts the server through `tools/run.sh`.
   */
  restart(how?: { meanwhile?: (data: string) => Promise<void>; line?: string }): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server as a process and waits until it answers. */
export async function startServer(options: { urlBase?: string; environment?: Record<string, string> } = {}): Promise<RunningServer> {
  const data = await mkdtemp(path.join(tmpdir(), "sluice-browser-"));
  const port = await freePort();
  const urlBase = options.urlBase ?? "";
  const url = `http://127.0.0.1:${port}${urlBase}`;
  const environment = {
    ...process.env,
    // Set by Vitest; the server would read it as a setting.
    BASE_URL: undefined,
    CONFIG_PATH: data,
    PORT: String(port),
    BIND_ADDRESS: "127.0.0.1",
    SLUICE_SETUP_CODE: setupCode,
    ...(urlBase === "" ? {} : { URL_BASE: urlBase }),
    ...options.environment,
  };
  let child = await launch();

  async function launch(line?: string): Promise<Child> {
    const started = line === undefined ? new Child(serverPath, [], environment, data) : new Child("bash", ["-c", line], environment, await checkout());
    await started.until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true);
    return started;
  }

  /** Creates a folder that looks like the sources; its script starts the tested server without a build. */
  async function checkout(): Promise<string> {
    await mkdir(path.join(data, "tools"), { recursive: true });
    await writeFile(path.join(data, "tools/run.sh"), `#!/bin/sh\nexec '${serverPath}'\n`, { mode: 0o755 });
    return data;
  }

  return {
    url,
    get pid() {
      return child.pid;
    },
    restart: async ({ meanwhile, line } = {}) => {
      await child.stop();
      await meanwhile?.(data);
      child = await launch(line);
    },
    stop: async () => {
      await child.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** A running MockNntpServer. */
export interface RunningMock {
  /** One `host:port` per provider. */
  providers: string[];
  /** `host:port` of its control interface. */
  control: string;
  stop(): Promise<void>;
}

/** Starts MockNntpServer with these arguments and waits until it prints `ready`. */
export async function startMock(...args: string[]): Promise<RunningMock> {
  const child = new Child(mockPath, args, process.env, tmpdir());
  let ready: RegExpExecArray | null = null;
  await child.until(() => {
    ready ??= child.lines.map((line) => /^ready nntp=(\S+) control=(\S+)/.exec(line)).find((match) => match !== null) ?? null;
    return Promise.resolve(ready !== null);
  });
  const [, providers = "", control = ""] = ready as unknown as string[];
  return { providers: providers.split(","), control, stop: () => child.stop() };
}

class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  #ended: Promise<void>;
  #isOver = false;

  constructor(command: string, args: string[], environment: NodeJS.ProcessEnv, folder: string) {
    this.#process = spawn(command, args, { cwd: folder, env: environment, stdio: ["pipe", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    this.#ended = new Promise((done) => {
      const end = (cause: unknown) => {
        this.#isOver = true;
        if (cause instanceof Error) this.lines.push(cause.message);
        done();
      };
      this.#process.once("exit", end).once("error", end);
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async until(isReady: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + readyMs;
    while (!(await isReady())) {
      if (this.#isOver || Date.now() > deadline) throw new Error(`It did not start:\n${this.lines.slice(-20).join("\n")}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async stop(): Promise<void> {
    if (!this.#isOver) this.#process.kill("SIGTERM");
    await this.#ended;
  }
}

/** Creates the administrator, completes the setup and returns a session cookie. */
export async function setUp(server: RunningServer): Promise<string> {
  const response = await post(server, "api/setup", { code: setupCode, ...account });
  await fetch(`${server.url}/api/setup`, {
    method: "PUT",
    headers: { "Content-Type": "application/json", "X-Csrf": "1", Origin: new URL(server.url).origin, Cookie: cookieOf(response) },
    body: JSON.stringify({ step: "done" }),
  });
  return cookieOf(response);
}

/** Logs in through the API and returns a session cookie. */
export async function logIn(server: RunningServer): Promise<string> {
  return cookieOf(await post(server, "api/session", account));
}

async function post(server: RunningServer, where: string, body: object): Promise<Response> {
  const response = await fetch(`${server.url}/${where}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Csrf": "1", Origin: new URL(server.url).origin },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${where}: ${response.status} ${await response.text()}`);
  return response;
}

function cookieOf(response: Response): string {
  return (response.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
}

/**
 * Browser features that are turned off. The first two load pages of Chromium's own UI and a spare process with each window, where the headless shell
 * is not installed. The others are the relevant part of Playwright's own list, because this option replaces that list.
 */
const withoutFeatures = [
  "PreloadTopChromeWebUI", "SpareRendererForSitePerProcess",
  "AimEnabled", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay",
  "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch",
];

/** Starts a browser with a profile of its own. The arguments go to Chromium, for example `--host-resolver-rules=MAP nas.test 127.0.0.1`. */
export async function startBrowser(...args: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", `--disable-features=${withoutFeatures.join(",")}`, ...args,
    ],
  });
}

/** The two window sizes that pages are tested in. */
export const windows = {
  desktop: { viewport: { width: 1_280, height: 800 } },
  phone: { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true },
} satisfies Record<string, BrowserContextOptions>;

/** Opens a page in a context of its own, logged in if a cookie is given. `page.errors` collects the errors of the page. */
export async function openPage(
  browser: Browser,
  server: RunningServer,
  options: BrowserContextOptions & { cookie?: string } = {},
): Promise<Page & { errors: string[] }> {
  const { cookie, ...contextOptions } = options;
  const context = await browser.newContext({ ...windows.desktop, baseURL: `${server.url}/`, reducedMotion: "reduce", ...contextOptions });
  if (cookie) {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url: server.url }]);
  }
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  return Object.assign(page, { errors });
}

const handedOut = new Set<number>();

/**
 * Returns a free port, a different one for each call. A server binds its port up to a second after it was probed, and again after a restart, so other
 * tests must not choose it meanwhile: each worker of Vitest has its own 4,000 ports, above those of the end-to-end tests and below those of outgoing
 * connections.
 */
async function freePort(): Promise<number> {
  const worker = (Number(process.env.VITEST_POOL_ID ?? 1) - 1) % 3;
  const port = 20_000 + worker * 4_000 + randomInt(4_000);
  if (handedOut.has(port)) return freePort();
  handedOut.add(port);
  const isFree = await new Promise<boolean>((done) => {
    const probe = createServer().once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });
  return isFree ? port : freePort();
}
