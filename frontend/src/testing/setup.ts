import { ReadableStream, TextDecoderStream } from "node:stream/web";
import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// Parts that are loaded on first use take long on few cores.
configure({ asyncUtilTimeout: 5_000 });

// APIs that jsdom lacks: those of Node.js, then stubs.
Object.assign(globalThis, { ReadableStream, TextDecoderStream });
globalThis.ResizeObserver ??= class {
  observe = () => undefined;
  unobserve = () => undefined;
  disconnect = () => undefined;
};
window.matchMedia ??= (query) =>
  ({ matches: false, media: query, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
window.scrollTo = () => undefined;
// Returns a promise like new browsers do, so that an effect that returns it fails here too.
Element.prototype.scrollIntoView ??= () => Promise.resolve();
Blob.prototype.arrayBuffer ??= function (this: Blob) {
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as ArrayBuffer);
    reader.readAsArrayBuffer(this);
  });
};
Element.prototype.hasPointerCapture ??= () => false;

afterEach(() => cleanup());
