using System.Security.Cryptography;
using System.Text.Json;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>
/// Releases made by real archivers and a real poster, played through WebDAV. <c>SLUICE_POSTS</c> gives a folder of releases in the form of
/// <c>Fixtures/posts</c>, which is the default.
/// </summary>
public sealed class RealReleaseTests : IDisposable
{
    private static readonly Dictionary<string, FailureReason> Refused = new()
    {
        ["rar5-m3"] = FailureReason.CompressedArchive,
    };

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Every_real_release_plays_or_fails_as_expected()
    {
        var posts = Environment.GetEnvironmentVariable("SLUICE_POSTS") is { Length: > 0 } folder ? folder : RealPost.Spool;
        using var manifest = JsonDocument.Parse(await File.ReadAllBytesAsync(Path.Combine(posts, "manifest.json"), Token));
        await using var mock = await MockServer.StartAsync(new MockOptions { Spool = posts });
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var outcomes = new List<string>();
        foreach (var release in manifest.RootElement.EnumerateArray())
            outcomes.Add(await PlayAsync(host, posts, release));

        Assert.All(outcomes, outcome => Assert.EndsWith(": right", outcome, StringComparison.Ordinal));
    }

    /// <summary>Imports a release and reads all of it.</summary>
    /// <returns>Its name and the outcome.</returns>
    private static async Task<string> PlayAsync(ProductHost host, string posts, JsonElement release)
    {
        var name = release.GetProperty("name").GetString()!;
        var nzb = await File.ReadAllBytesAsync(Path.Combine(posts, release.GetProperty("nzb").GetString()!), Token);
        var id = (await host.AddAsync(nzb, name + ".nzb", Token, "&cat=movies"))[0];
        var slot = await host.WaitForHistoryAsync(id, Token);
        var reason = (await host.Get<HistoryStore>().FindAsync(id, Token))!.Reason;
        if (Refused.TryGetValue(name, out var expected))
            return $"{name}: {(reason == expected.ToString() ? "right" : $"{reason} and not {expected}")}";
        if (reason is not null)
            return $"{name}: {slot.GetProperty("fail_message").GetString()}";

        foreach (var film in release.GetProperty("media").EnumerateArray())
        {
            var path = $"/content/movies/{name}/{film.GetProperty("name").GetString()}";
            using var answer = await host.SendAsync(HttpMethod.Get, path, null, Token);
            if (!answer.IsSuccessStatusCode)
                return $"{path}: {(int)answer.StatusCode}";
            await using var body = await answer.Content.ReadAsStreamAsync(Token);
            var sum = Convert.ToHexStringLower(await SHA256.HashDataAsync(body, Token));
            if (answer.Content.Headers.ContentLength != film.GetProperty("size").GetInt64() || sum != film.GetProperty("sha256").GetString())
                return $"{path}: other bytes";
        }

        return $"{name}: right";
    }
}
