using System.Security.Cryptography;
using System.Text.Json;
using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Articles written by a real poster.</summary>
public sealed class RealArticleTests
{
    [Theory]
    [InlineData("raw-dots")]
    [InlineData("raw-mkv")]
    public void Real_post_decodes_to_the_film(string release)
    {
        var posts = Repository.Fixture("posts");
        using var manifest = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(posts, "manifest.json")));
        var expected = FindSha256(manifest.RootElement, release);
        foreach (var kernel in YencKernel.Supported)
            Assert.Equal(expected, DecodeFilm(Path.Combine(posts, release), kernel));
    }

    private static string DecodeFilm(string folder, YencKernel kernel)
    {
        var parts = new SortedDictionary<long, byte[]>();
        var random = new Random(3);
        foreach (var path in Directory.EnumerateFiles(folder, "*.article"))
        {
            var article = TestArticle.OnWire(System.Text.Encoding.Latin1.GetString(File.ReadAllBytes(path)));
            var body = article.AsMemory(article.AsSpan().IndexOf("\r\n\r\n"u8) + 4);
            var run = DecoderRun.Of(Splits.AtRandom(body, random, 100_000), kernel);
            Assert.True(run.Ended);
            Assert.Equal(ArticleDefects.None, run.Defects);
            Assert.NotNull(run.Result.ExpectedCrc);
            parts.Add(run.Result.Header.Begin!.Value, run.Output);
        }

        using var film = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (var part in parts.Values)
            film.AppendData(part);
        return Convert.ToHexStringLower(film.GetHashAndReset());
    }

    private static string FindSha256(JsonElement manifest, string release) =>
        manifest.EnumerateArray()
            .Single(post => post.GetProperty("name").GetString() == release)
            .GetProperty("media")[0].GetProperty("sha256").GetString()!;
}
