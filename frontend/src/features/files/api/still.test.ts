import { describe, expect, it } from "vitest";
import { isSeen } from "./still";

/** Pixels whose gray each is told by its number. */
const pixels = (gray: (at: number) => number) => Uint8ClampedArray.from({ length: 4 * 3_200 }, (_, at) => (at % 4 === 3 ? 255 : gray(Math.floor(at / 4))));

describe("a still", () => {
  it("is taken of a picture with light and shade", () => {
    expect(isSeen(pixels((at) => (at / 8) % 256))).toBe(true);
  });

  it("is taken neither of black, nor of a fade, nor of one color", () => {
    expect(isSeen(pixels(() => 0))).toBe(false);
    expect(isSeen(pixels((at) => (at / 8) % 24))).toBe(false);
    expect(isSeen(pixels(() => 200))).toBe(false);
    expect(isSeen(new Uint8ClampedArray())).toBe(false);
  });
});
