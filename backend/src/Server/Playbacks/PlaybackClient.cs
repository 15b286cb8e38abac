using System.Globalization;
using Sluice.Server.Listening;

namespace Sluice.Server.Playbacks;

/// <summary>Who reads a file: a program at an address. What it does with one file is one playback, over however many requests.</summary>
/// <param name="Address">Its address, behind trusted proxies.</param>
/// <param name="Agent">What the program says of itself, cut; empty where it says nothing.</param>
internal readonly record struct PlaybackClient(string Address, string Agent)
{
    private const int LongestAgent = 200;
    private const int LongestName = 40;

    // Browsers say that they are each other: the first of these that is named is the one.
    private static readonly string[] Browsers = ["Edg", "Firefox", "Chrome", "Safari"];

    /// <summary>The client of a request, once trusted proxies have been read.</summary>
    public static PlaybackClient Of(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        var address = http.Connection.RemoteIpAddress is { } remote ? TrustedProxies.Plain(remote).ToString() : "";
        return new PlaybackClient(address, new string([.. agent.Take(LongestAgent).Where(static c => !char.IsControl(c))]));
    }

    /// <summary>The program in a few words, as in <c>VLC 3.0</c>; empty where it says nothing.</summary>
    public string Player
    {
        get
        {
            // RFC 9110, section 10.1.5: product tokens, the most telling one first.
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
