// Plays a film in a page of Chromium: node chromium.mjs PROGRAM PAGE FILM
// PAGE is any page of the server, because the script may read pictures only from the same origin. Their bar code is the frame number.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [executablePath, page, film] = process.argv.slice(2);
const framesPerSecond = 25;
const places = [30, 5, 55, 12.5, 48, 1, 59, 0, 33.3, 20, 58.4, 7.2, 41.8, 2.9, 25, 51.1, 16.6, 38.8, 10.4, 45];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"] });
try {
  const tab = await browser.newPage();
  await tab.goto(page);
  const seen = await tab.evaluate(watch, { film, places });
  assert.equal(seen.duration, 60);
  assert.ok(seen.played >= 1, `played ${seen.played} s`);
  seen.frames.forEach((frame, at) => {
    const wanted = Math.floor(places[at] * framesPerSecond + 0.001);
    assert.ok(Math.abs(frame - wanted) <= 1, `sought frame ${wanted}, saw ${frame}`);
  });
} finally {
  await browser.close();
}

// Runs in the page.
async function watch({ film, places }) {
  const video = document.createElement("video");
  const heard = (name) =>
    new Promise((resolve, reject) => {
      video.addEventListener(name, resolve, { once: true });
      video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true });
    });

  video.muted = true;
  video.src = film;
  document.body.append(video);
  await video.play();
  while (video.currentTime < 1) await heard("timeupdate");
  const played = video.currentTime;
  video.pause();

  const frames = [];
  for (const place of places) {
    const arrived = heard("seeked");
    video.currentTime = place + 0.01;
    await arrived;
    frames.push(read(video));
  }
  return { duration: Math.round(video.duration), played, frames };

  // Sixteen fields of 40 pixels, the lowest bit on the left.
  function read(source) {
    const canvas = document.createElement("canvas");
    canvas.width = source.videoWidth;
    canvas.height = source.videoHeight;
    const context = canvas.getContext("2d");
    context.drawImage(source, 0, 0);
    let frame = 0;
    for (let field = 0; field < 16; field++) {
      const [light] = context.getImageData(field * 40 + 20, 344, 1, 1).data;
      if (light > 127) frame += 2 ** field;
    }
    return frame;
  }
}
