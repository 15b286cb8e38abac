-- For mpv: plays a second, then seeks to 20 positions and prints each one that it reaches. Exits with an error if it reaches another.
local places = { 30, 5, 55, 12.52, 48.04, 1, 59, 0, 33.36, 20, 58.4, 7.2, 41.8, 2.96, 25.08, 51.12, 16.6, 38.88, 10.4, 45 }
local frame = 0.04
local at = 0

local function go_on()
  at = at + 1
  if places[at] then
    mp.commandv("seek", places[at], "absolute+exact")
  else
    mp.commandv("quit", "0")
  end
end

local function start(_, position)
  if position and position > 1 then
    mp.unobserve_property(start)
    mp.msg.warn("plays")
    mp.set_property_bool("pause", true)
    go_on()
  end
end

mp.observe_property("time-pos", "number", start)

mp.register_event("playback-restart", function()
  if at == 0 then
    return
  end
  local position = mp.get_property_number("time-pos")
  if math.abs(position - places[at]) > 1.5 * frame then
    mp.msg.error(string.format("sought %.2f, arrived at %.2f", places[at], position))
    mp.commandv("quit", "1")
    return
  end
  mp.msg.warn(string.format("at %.2f", position))
  go_on()
end)
