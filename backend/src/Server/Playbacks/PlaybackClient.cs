using System.Globalization;
using Sluice.Server.Listening;

namespace Sluice.Server.Playbacks;

/// <summary>A client: a program at an address. All its requests for one file form one playback.</summary>
/// <param name="Address">The client's own address, as reported by trusted proxies.</param>
/// <param name="Agent">The User-Agent, truncated; empty if missing.</param>
internal readonly record struct PlaybackClient(string Address, string Agent)
{
    private const int LongestAgent = 200;
    private const int LongestName = 40;

    // The first match wins, so the order matters: the User-Agent of Edge also names Chrome and Safari, and Chrome's also names Safari.
    private static readonly string[] Browsers = ["Edg", "Firefox", "Chrome", "Safari"];

    /// <summary>Returns the client of a request. Must run after the trusted proxies middleware.</summary>
    public static PlaybackClient Of(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        var address = http.Connection.RemoteIpAddress is { } remote ? TrustedProxies.Plain(remote).ToString() : "";
        return new PlaybackClient(address, new string([.. agent.Take(LongestAgent).Where(static c => !char.IsControl(c))]));
    }

    /// <summary>A short program name, as in <c>VLC 3.0</c>; empty if unknown.</summary>
    public string Player
    {
        get
        {
            // RFC 9110, section 10.1.5: product tokens in order of significance.
            var products = Agent.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (products.Length == 0)
                return "";
            var product = products[0].StartsWith("Mozilla/", StringComparison.Ordinal)
                ? Browsers.Select(browser => Array.Find(products, each => each.StartsWith(browser + "/", StringComparison.Ordinal))).FirstOrDefault(static each => each is not null)
                : products[0];
            if (product is null)
                return "a browser";
            var (name, version) = product.Split('/', 2) is [var first, var second] ? (first, second) : (product, "");
            var numbers = version.TrimStart('v').Split('.').TakeWhile(static number => int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out _)).Take(2);
            var text = $"{(name == "Edg" ? "Edge" : name)} {string.Join('.', numbers)}".TrimEnd();
            return text.Length > LongestName ? text[..LongestName] : text;
        }
    }
}
