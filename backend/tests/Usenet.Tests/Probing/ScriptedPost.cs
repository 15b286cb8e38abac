using System.Globalization;
using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>A posted file with parts of any length, whose articles are at a scripted source.</summary>
internal sealed class ScriptedPost
{
    private readonly ScriptedArticleSource _source;
    private readonly string _prefix;

    public ScriptedPost(ScriptedArticleSource source, string prefix, byte[] content, params int[] lengths)
    {
        _source = source;
        _prefix = prefix;
        Content = content;
        Lengths = lengths;
        for (int i = 0, begin = 0; i < lengths.Length; begin += lengths[i++])
            source.Post(IdOf(i), Article(i, begin, part: i + 1));
    }

    /// <summary>Returns noise after a Matroska head, split into parts of one size and a shorter last one.</summary>
    public static ScriptedPost Uniform(ScriptedArticleSource source, string prefix, int count, int partSize, int last)
    {
        int[] lengths = [.. Enumerable.Repeat(partSize, count - 1), last];
        return new ScriptedPost(source, prefix, Film(lengths.Sum()), lengths);
    }

    public byte[] Content { get; }

    public int[] Lengths { get; }

    public ISegmentIds Ids => new ListedIds(_prefix, Lengths.Length);

    public static byte[] Film(int length)
    {
        var content = TestArticle.Noise(length, length);
        ((ReadOnlySpan<byte>)[0x1A, 0x45, 0xDF, 0xA3]).CopyTo(content);
        return content;
    }

    public string IdOf(int index) => $"{_prefix}-{index}@x";

    public ProbeTarget Target(string subject) => new(NzbSubject.Parse(subject), Ids);

    /// <summary>Returns the article of a segment, with any claimed offset.</summary>
    public byte[] Article(int index, long begin, int part, long? fileSize = null, int? total = null)
    {
        var start = Lengths.Take(index).Sum();
        return TestArticle.OnWire(TestArticle.Part(
            Content[start..(start + Lengths[index])], begin, fileSize ?? Content.Length, part, total ?? Lengths.Length));
    }

    /// <summary>Returns the article of a single-part post, which has no =ypart.</summary>
    public static byte[] SinglePart(byte[] content, long? claimedSize = null) => TestArticle.OnWire(string.Create(
        CultureInfo.InvariantCulture,
        $"=ybegin line=128 size={claimedSize ?? content.Length} name=film.mkv\r\n{TestArticle.Encode(content)}=yend size={content.Length} crc32={YencReference.Crc(content):x8}\r\n"));

    public void Replace(int provider, int index, byte[]? wire) => _source.Replace(provider, IdOf(index), wire);

    private sealed class ListedIds(string prefix, int count) : ISegmentIds
    {
        public int Count => count;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) =>
            new(new SegmentIds(MessageId.Parse($"{prefix}-{index}@x"), [MessageId.Parse($"{prefix}-{index}-again@x")]));
    }
}
