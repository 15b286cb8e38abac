using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class BuiltInClipTests
{
    // Output of tools/DemoClip.cs.
    private const string FilmSum = "f5cc520da5f5323aa87ddf135966f7e1e39c2920d6ae2ac8260d2179943d0bf9";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Demo_clip_reads_back_with_the_expected_hash()
    {
        var clip = new BuiltInClip();

        Assert.Equal(FilmSum, Convert.ToHexStringLower(SHA256.HashData(await ReadAsync(clip))));
        Assert.Equal("sluice-demo.mp4", clip.File.Name);
        Assert.InRange(clip.File.Length, 1, 2 << 20);
    }

    [Fact]
    public async Task Demo_clip_has_its_index_before_the_media_data()
    {
        var film = (await ReadAsync(new BuiltInClip())).AsSpan();

        Assert.InRange(film.IndexOf("moov"u8), 1, film.IndexOf("mdat"u8));
        Assert.True(film.IndexOf("avc1"u8) > 0 && film.IndexOf("mp4a"u8) > 0);
    }

    [Fact]
    public async Task One_flipped_byte_of_any_article_aborts_the_read()
    {
        foreach (var damaged in DamagedArticles())
            await Assert.ThrowsAsync<ArticleGoneException>(() => ReadAsync(new BuiltInClip(() => damaged)));
    }

    [Fact]
    public async Task Flipped_byte_aborts_the_response_to_a_client()
    {
        var (whole, aborted) = (0, 0);
        foreach (var articles in DamagedArticles().Prepend(BuiltInClip.LoadArticles()))
        {
            using var folder = new TemporaryFolder();
            await using var host = await ProductHost.StartAsync(folder, replace: services => services.AddSingleton(new BuiltInClip(() => articles)));
            using var request = new HttpRequestMessage(HttpMethod.Get, "/content/demo/sluice-demo.mp4");
            request.Headers.Authorization = new AuthenticationHeaderValue(
                "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
            try
            {
                using var answer = await host.Client.SendAsync(request, Token);
                // Damage in the first article may be found before the headers are sent.
                if (answer.StatusCode == HttpStatusCode.Gone)
                {
                    aborted++;
                    continue;
                }

                Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
                Assert.Equal(FilmSum, Convert.ToHexStringLower(SHA256.HashData(await answer.Content.ReadAsByteArrayAsync(Token))));
                whole++;
            }
            catch (HttpRequestException)
            {
                aborted++;
            }
        }

        Assert.Equal((1, 8), (whole, aborted));
    }

    [Fact]
    public async Task Unknown_article_fails_as_NoProvider_not_as_missing()
    {
        var request = new ArticleRequest(MessageId.Parse("other@example.com"), OperationLane.Import);

        var thrown = await Assert.ThrowsAsync<NntpException>(async () => await new BuiltInClip().Source.FetchAsync(request, new NoSink(), Token));

        Assert.Equal(NntpFault.NoProvider, thrown.Fault);
    }

    [Theory]
    [InlineData("")]
    [InlineData("no article")]
    [InlineData("Subject: x\r\n\r\nbody\r\n.\r\n")]
    [InlineData("Message-ID: <a@b>\r\n\r\nno yEnc\r\n.\r\n")]
    [InlineData("Message-ID: <a@b>\r\n\r\n=ybegin part=1 line=128 size=1 name=x\r\n=ypart begin=1 end=1\r\nk\r\n")]
    public void Invalid_articles_are_refused(string articles) =>
        Assert.Throws<InvalidDataException>(() => new BuiltInClip(() => Encoding.Latin1.GetBytes(articles)).File);

    private static IEnumerable<byte[]> DamagedArticles()
    {
        var articles = BuiltInClip.LoadArticles();
        var random = new Random(1);
        foreach (var (begin, end) in DataOf(articles))
        {
            // The changed byte stays a data byte: it neither creates nor removes a line end, an escape or a leading dot.
            int place;
            do
                place = random.Next(begin, end);
            while (articles[place] is < 0x40 or > 0x7F);
            var damaged = (byte[])articles.Clone();
            damaged[place] ^= 0x02;
            yield return damaged;
        }
    }

    private static IEnumerable<(int Begin, int End)> DataOf(byte[] articles)
    {
        for (var at = 0; articles.AsSpan(at).IndexOf("\r\n=ypart "u8) is var part and >= 0;)
        {
            var begin = at + part + 2;
            begin += articles.AsSpan(begin).IndexOf("\r\n"u8) + 2;
            var end = begin + articles.AsSpan(begin).IndexOf("\r\n=yend "u8);
            yield return (begin, end);
            at = end;
        }
    }

    private static async Task<byte[]> ReadAsync(BuiltInClip clip)
    {
        var engine = new StreamEngine(clip.Source, new StreamOptions { AskAgainAfter = TimeSpan.Zero }, TimeProvider.System, NullLoggerFactory.Instance);
        await using var stream = engine.Open(clip.Extents, OperationLane.Playback);
        var film = new MemoryStream();
        await stream.CopyToAsync(film, Token);
        return film.ToArray();
    }

    private sealed class NoSink : IArticleSink
    {
        public void Start(int provider) => throw new InvalidOperationException();

        public bool Write(ReadOnlySpan<byte> raw, out int consumed) => throw new InvalidOperationException();
    }
}
