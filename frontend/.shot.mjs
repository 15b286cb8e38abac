import { chromium } from "playwright-core";
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless","--no-sandbox","--disable-gpu"] });
const out="/tmp/w/scratch/";
for (const [name, path, w, h, scheme, act] of [
 ["d-dark","/",1280,800,"dark"],["d-light","/queue",1280,800,"light"],["m-dark","/",390,780,"dark"],["m-light","/queue",390,780,"light"],
 ["login","/login",390,780,"light"],["d-menu","/",1280,800,"dark","menu"],["d-search","/",1280,800,"light","search"],["m-more","/",390,780,"dark","more"],["d-keys","/",1280,800,"dark","keys"],["d-gallery","/gallery",1280,1500,"dark"],["d-galleryl","/gallery",1280,1500,"light"],["m-gallery","/gallery",390,1800,"light"]]) {
 if (process.argv[2] && !process.argv[2].split(",").includes(name)) continue;
 const c = await b.newContext({ viewport:{width:w,height:h}, colorScheme: scheme, hasTouch: w<500, isMobile: w<500 });
 const p = await c.newPage(); p.on("console", m => m.type()==="error" && console.log(name, m.text())); p.on("pageerror", e=>console.log(name,"ERR",e.message));
 await p.goto("http://127.0.0.1:28931"+path); await p.waitForSelector("h1"); await p.waitForTimeout(600);
 if (act==="menu") { await p.click("button[aria-label^='Logged in']"); await p.waitForTimeout(400); }
 if (act==="more") { await p.click("nav button"); await p.waitForTimeout(500); }
 if (act==="search") { await p.keyboard.press("/"); await p.waitForTimeout(500); }
 if (act==="keys") { await p.keyboard.press("?"); await p.waitForTimeout(500); }
 await p.screenshot({ path: out+name+".png" }); await c.close();
}
await b.close();
