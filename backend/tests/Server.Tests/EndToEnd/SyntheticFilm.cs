using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A film computed by arithmetic, so any byte is known without storing it.</summary>
internal sealed class SyntheticFilm(ulong seed, long size, int articleSize)
{
    private readonly MockRelease _release = MockRelease.Plain(seed, size, articleSize: articleSize);

    public long Size => size;

    public int ArticleSize => articleSize;

    /// <summary>Name of the release if it is added under the film's seed.</summary>
    public string Name => $"film-{seed}";

    public string Path => $"content/movies/{Name}/film.mkv";

    public byte[] Nzb => _release.ToNzb();

    /// <summary>Returns the true bytes at an offset.</summary>
    public byte[] Truth(long offset, int count)
    {
        var bytes = new byte[count];
        _release.Fill(0, offset, bytes);
        return bytes;
    }

    /// <summary>Fails unless the bytes equal the film at the offset.</summary>
    public void AssertEqual(long offset, ReadOnlySpan<byte> bytes)
    {
        var truth = Truth(offset, bytes.Length);
        if (bytes.SequenceEqual(truth))
            return;
        var first = bytes.CommonPrefixLength(truth);
        Assert.Fail($"Wrong byte at {offset + first}: expected 0x{truth[first]:x2}, found 0x{bytes[first]:x2}.");
    }

    /// <summary>Adds the film and waits until it can be read.</summary>
    public async Task PublishAsync(SluiceClient client, CancellationToken cancel) =>
        await client.PublishedAsync(await client.AddFileAsync("movies", Name, Nzb, cancel), cancel);
}
