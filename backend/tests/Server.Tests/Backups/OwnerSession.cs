using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>The administrator of a server process: settings for its login, its session, and its calls of <c>/api/backups</c>.</summary>
internal static class OwnerSession
{
    public const string Password = "a-password-of-an-administrator";

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Environment variables that create the administrator.</summary>
    public static Dictionary<string, string> Settings => new() { ["SLUICE_ADMIN_PASSWORD"] = Password, ["SLUICE_ADMIN_USER"] = "owner" };

    /// <summary>Logs in to the server on a port.</summary>
    public static async Task<HttpClient> LogInAsync(int port)
    {
        var address = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{port}/"));
        var browser = new HttpClient { BaseAddress = address };
        browser.DefaultRequestHeaders.Add("X-Csrf", "1");
        browser.DefaultRequestHeaders.Add("Origin", address.GetLeftPart(UriPartial.Authority));
        using var session = await browser.PostAsJsonAsync("api/session", new { user = "owner", password = Password }, Token);
        Assert.True(session.IsSuccessStatusCode, await session.Content.ReadAsStringAsync(Token));
        return browser;
    }

    /// <summary>Requests a backup and waits until it is made or has failed. Returns the list.</summary>
    public static async Task<JsonNode> BackUpAsync(HttpClient browser)
    {
        using (var begun = await browser.PostAsync(new Uri("api/backups", UriKind.Relative), null, Token))
            Assert.True(begun.IsSuccessStatusCode, await begun.Content.ReadAsStringAsync(Token));
        return await UntilAsync(browser, list => !list["isMaking"]!.GetValue<bool>());
    }

    /// <summary>Waits until the list of backups meets a condition, and returns it.</summary>
    public static async Task<JsonNode> UntilAsync(HttpClient browser, Predicate<JsonNode> isMet)
    {
        while (true)
        {
            using var answer = await browser.GetAsync(new Uri("api/backups", UriKind.Relative), Token);
            var text = await answer.Content.ReadAsStringAsync(Token);
            Assert.True(answer.IsSuccessStatusCode, text);
            var list = JsonNode.Parse(text)!;
            if (isMet(list))
                return list;
            await Task.Delay(Poll, TimeProvider.System, Token);
        }
    }

    /// <summary>Waits until a server answers that it is ready.</summary>
    public static async Task ReadyAsync(HttpClient browser)
    {
        while (true)
        {
            try
            {
                using var answer = await browser.GetAsync(new Uri("readyz", UriKind.Relative), Token);
                if (answer.IsSuccessStatusCode)
                    return;
            }
            catch (HttpRequestException)
            {
                // The server does not listen yet.
            }

            await Task.Delay(Poll, TimeProvider.System, Token);
        }
    }
}
