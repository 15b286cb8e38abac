using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// The unpacked archive for arm64 on emulated CPUs. <c>tools/test.sh --all</c> runs these tests if build and emulator are available. They
/// measure nothing, because an emulator has costs of its own.
/// </summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
[Trait(ServerForm.Trait, ServerForm.Arm)]
public sealed class Arm64Tests
{
    private static readonly string[] RealPosts = ["raw-mkv", "raw-dots", "rar4"];

    // Encrypted layouts need SHA-256 and AES, for which Arm CPUs have instructions too.
    private static readonly string[] EncryptedLayouts = ["rar5-headers", "7z-encrypted"];

    /// <summary>CPUs of <c>tools/arm64.sh</c>, each with the checksum that its instructions allow.</summary>
    public static TheoryData<string, string> Cpus => new() { { "raspberry-pi-4", "CRC32 instructions" }, { "newest", "PMULL" } };

    [Theory(Explicit = true)]
    [MemberData(nameof(Cpus))]
    public async Task Arm64_archive_uses_the_CPU_checksum_and_serves_the_clip(string cpu, string checksum)
    {
        var cancel = TestContext.Current.CancellationToken;
        using var data = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(data.Path, On(cpu), cancel);
        using var client = new SluiceClient(server);

        Assert.Equal(ClipTests.ClipSum, SluiceClient.Sha256(await client.GetAsync(await ClipTests.FindClipAsync(client, cancel), cancel)));
        var line = await server.LineAsync(line => line.Contains("Compiled for ", StringComparison.Ordinal), cancel);
        Assert.Contains($"Compiled for linux-arm64. Decoding with Vector128, checksums with {checksum}", line, StringComparison.Ordinal);
    }

    [Theory(Explicit = true)]
    [MemberData(nameof(Cpus))]
    public async Task Arm64_archive_serves_five_releases_byte_for_byte(string cpu, string checksum)
    {
        var cancel = TestContext.Current.CancellationToken;
        var made = EncryptedLayouts.Select(MockLayouts.Make).ToList();
        await using var set = await MockedServer.StartAsync(new MockOptions { Spool = RealPost.Spool, Releases = made }, On(cpu), cancel);

        foreach (var post in RealPosts.Select(RealPost.Read))
        {
            await ImportAsync(set.Client, post.Name, post.Nzb, cancel);
            Assert.Equal(post.Sha256, SluiceClient.Sha256(await set.Client.GetAsync($"content/movies/{post.Name}/{post.FileName}", cancel)));
        }

        foreach (var release in made)
        {
            await ImportAsync(set.Client, release.Title, release.ToNzb(), cancel);
            var film = Assert.Single(release.Entries);
            var path = $"content/movies/{release.Title}/{film.Path}";
            var expected = film.Bytes.ToArray();
            Assert.Equal(expected, await set.Client.GetAsync(path, cancel));
            Assert.Equal(expected[300_001..400_003], await set.Client.GetRangeAsync(path, 300_001, 400_002, expected.Length, cancel));
        }

        await set.Server.LineAsync(line => line.EndsWith($"checksums with {checksum}", StringComparison.Ordinal), cancel);
    }

    private static Dictionary<string, string> On(string cpu) => new() { ["EMULATED_CPU"] = cpu };

    private static async Task ImportAsync(SluiceClient client, string name, byte[] nzb, CancellationToken cancel) =>
        await client.PublishedAsync(await client.AddFileAsync("movies", name, nzb, cancel), cancel);
}
