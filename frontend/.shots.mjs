import { chromium } from "playwright-core";
const base="http://127.0.0.1:"+process.argv[2]; const want=process.argv[3]?.split(",");
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless","--no-sandbox","--disable-gpu"] });
const list=[["o-d-dark","/",1280,"dark","full"],["o-d-light","/",1280,"light","full"],["o-m-dark","/",390,"dark","full"],["o-m-light","/",390,"light","empty"],["o-d-empty","/",1280,"dark","empty"],["o-fail","/",1280,"light","fail"],["o-hour","/?window=hour",1280,"light","well"],
["s-d-dark","/streams/s0",1280,"dark","full"],["s-d-light","/streams/s1",1280,"light","full","provider-slots"],["s-m-dark","/streams/s0",390,"dark","full","limit"],["s-m-light","/streams/s2",390,"light","full","player-slow"],["s-gone","/streams/gone",1280,"dark","full"],["s-nomap","/streams/s3",1280,"light","full"],["s-table","/streams/s0",1280,"light","full","none","table"],
["l-d-dark","/logs",1280,"dark","full"],["l-d-light","/logs?level=warning",1280,"light","full"],["l-m-dark","/logs",390,"dark","full"],["l-m-light","/logs?stream=s0&level=debug",390,"light","full"],["l-empty","/logs?q=zzz",1280,"dark","full"],["l-raised","/logs",1280,"light","full","none","raise"],["l-fail","/logs",1280,"dark","fail"]];
for (const [name,path,w,scheme,mode,reason,act] of list) { if(want && !want.some(x=>name.startsWith(x))) continue;
 await fetch(`${base}/mode?m=${mode}&r=${reason??"none"}`);
 const c=await b.newContext({viewport:{width:w,height:w<500?780:900},colorScheme:scheme,hasTouch:w<500,isMobile:w<500}); const p=await c.newPage();
 p.on("console",m=>m.type()==="error"&&!m.text().includes("503")&&console.log(name,m.text())); p.on("pageerror",e=>console.log(name,"ERR",e.message));
 await p.goto(base+path); await p.waitForSelector("h1"); await p.waitForTimeout(mode==="fail"?5500:1800);
 if(act==="table") { await p.click("button[aria-label='Show as a table']"); await p.waitForTimeout(300); }
 if(act==="raise") { await p.click("text=Record more"); await p.waitForTimeout(600); await p.screenshot({path:`/tmp/w/scratch/live-${name}-menu.png`}); await p.click("text=Debug for 15 min"); await p.waitForTimeout(1200); }
 if (w<500 && !path.startsWith("/logs")) { const H=await p.evaluate(()=>document.documentElement.scrollHeight); for(let i=0;i*1400<H;i++) await p.screenshot({path:`/tmp/w/scratch/live-${name}-${i}.png`,fullPage:true,clip:{x:0,y:i*1400,width:w,height:Math.min(1400,H-i*1400)}}); }
 else await p.screenshot({path:`/tmp/w/scratch/live-${name}.png`, fullPage: !path.startsWith("/logs")}); await c.close(); }
await b.close();
