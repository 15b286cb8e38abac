using System.Globalization;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>A release that any mock can serve from its NZB alone. Equal arguments give equal bytes. Immutable and thread-safe.</summary>
public sealed class MockRelease
{
    /// <summary>Upper bound of the overhead per article: status line, headers, keyword lines and cache entry.</summary>
    private const int LargestFrame = 1500;

    private readonly Func<MockMessageId, MediaContent?, PostedSize> _measure;
    private readonly Lazy<PostedPart[][]> _parts;
    private readonly IReadOnlyList<MockEntry>? _entries;

    public MockRelease(string title, ulong seed, IReadOnlyList<MockFile> files)
        : this(title, seed, files, ArticleEncoder.Measure)
    {
    }

    private MockRelease(string title, ulong seed, IReadOnlyList<MockFile> files, Func<MockMessageId, MediaContent?, PostedSize> measure)
    {
        Title = title;
        Seed = seed;
        Files = files;
        _measure = measure;
        _parts = new Lazy<PostedPart[][]>(MeasureParts);
    }

    public string Title { get; }

    /// <summary>Seed of the synthetic content.</summary>
    public ulong Seed { get; }

    public IReadOnlyList<MockFile> Files { get; }

    /// <summary>Password in the NZB head; null for none.</summary>
    public string? Password { get; init; }

    /// <summary>Expected files of the release, including those inside archives. For plain releases these are the posted files.</summary>
    public IReadOnlyList<MockEntry> Entries
    {
        get => _entries ?? [.. Files.Select((file, index) => new MockEntry(file.Name, BytesOf(index)) { Posted = [index] })];
        init => _entries = value;
    }

    /// <summary>Whether the NZB lists each segment as a separate file, as some indexers do.</summary>
    public bool ListsSegmentsAsFiles { get; init; }

    /// <summary>Whether each of these files has its part number in subject and segment; otherwise 1.</summary>
    public bool NumbersSegmentFiles { get; init; }

    /// <summary>Layout encoded in its message-ids; null if the mock knows the content from elsewhere.</summary>
    internal string? Recipe { get; init; }

    /// <summary>Creates a plain release of <paramref name="size"/> bytes: one film, or several of equal size plus the remainder.</summary>
    public static MockRelease Plain(ulong seed, long size, int files = 1, int articleSize = MockFile.DefaultArticleSize, bool obfuscate = false)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(files, 1);
        var digits = Math.Max(2, files.ToString(CultureInfo.InvariantCulture).Length);
        var list = new MockFile[files];
        for (var i = 0; i < files; i++)
        {
            var name = files == 1 ? "film.mkv" : $"film-{(i + 1).ToString(CultureInfo.InvariantCulture).PadLeft(digits, '0')}.mkv";
            list[i] = new MockFile
            {
                Name = obfuscate ? VolumeNames.Hex(seed, i) : name,
                Size = i == files - 1 ? size - (size / files * (files - 1)) : size / files,
                ArticleSize = articleSize,
            };
        }

        return new MockRelease($"plain-{seed}", seed, list);
    }

    /// <summary>Creates a release of real files. The mock must be given the same list, because ids refer to files by number.</summary>
    public static MockRelease Media(ulong seed, IReadOnlyList<MediaContent> files, int articleSize = MockFile.DefaultArticleSize, bool obfuscate = false) =>
        new($"media-{seed}", seed, [.. files.Select((file, i) => obfuscate ? MockFile.From(file, articleSize) with { Name = VolumeNames.Hex(seed, i) } : MockFile.From(file, articleSize))]);

    /// <summary>Returns the message-id of a part, without angle brackets.</summary>
    /// <param name="file">0-based file.</param>
    /// <param name="part">1-based part.</param>
    public string MessageId(int file, int part) => _parts.Value[file][part - 1].Id.ToString();

    /// <summary>Returns the message-ids of a file in part order.</summary>
    public IReadOnlyList<string> MessageIds(int file = 0) => [.. _parts.Value[file].Select(part => part.Id.ToString())];

    public int ArticleCount => _parts.Value.Sum(parts => parts.Length);

    /// <summary>Size of all articles as posted: the sum of the NZB's <c>bytes</c>.</summary>
    public long EncodedSize => _parts.Value.Sum(parts => parts.Sum(part => (long)part.EncodedLength));

    /// <summary>Returns the expected bytes of a posted file.</summary>
    public MockBytes BytesOf(int file) => Files[file].Content?.Bytes ?? MockBytes.Synthetic(Seed, file, Files[file].Size);

    /// <summary>Copies the expected bytes of a range of a posted file.</summary>
    public void Fill(int file, long offset, Span<byte> destination) => BytesOf(file).Fill(offset, destination);

    public void WriteNzb(Stream output) => NzbWriter.Write(output, this);

    public byte[] ToNzb()
    {
        using var output = new MemoryStream();
        WriteNzb(output);
        return output.ToArray();
    }

    /// <summary>Estimated maximum cache size of its articles, from the usual share of escapes. It is known without encoding them.</summary>
    internal long LargestCost => Files.Sum(file => (file.Size * (file.IsUuencoded ? 140 : 104) / 100) + ((file.PartLengths?.Count ?? (file.Size / file.ArticleSize) + 1) * (long)LargestFrame));

    /// <summary>Returns the same release with another way to measure its articles.</summary>
    internal MockRelease MeasuredBy(Func<MockMessageId, MediaContent?, PostedSize> measure) =>
        new(Title, Seed, Files, measure) { Password = Password, Entries = Entries, Recipe = Recipe, ListsSegmentsAsFiles = ListsSegmentsAsFiles, NumbersSegmentFiles = NumbersSegmentFiles };

    internal IReadOnlyList<PostedPart> PartsOf(int file) => _parts.Value[file];

    private PostedPart[][] MeasureParts()
    {
        var release = new PostedPart[Files.Count][];
        for (var file = 0; file < release.Length; file++)
            release[file] = MeasureFile(file);
        return release;
    }

    private PostedPart[] MeasureFile(int file)
    {
        var lengths = Files[file].CutIntoParts();
        var ids = new MockMessageId[lengths.Length];
        long begin = 0;
        for (var i = 0; i < ids.Length; i++)
        {
            ids[i] = Id(file, i + 1, ids.Length, begin, lengths[i]);
            begin += lengths[i];
        }

        var measured = new PostedSize[ids.Length];
        Parallel.For(0, ids.Length, i => measured[i] = _measure(ids[i], Files[file].Content));

        uint crc = 0;
        for (var i = 0; i < ids.Length; i++)
            crc = JoinedCrc.Of(crc, measured[i].Crc, ids[i].Length);

        // The last part was measured with a zero CRC, because the text length is the same.
        var last = ids[^1] with { FileCrc = crc };
        if (last.ToString().Length > MockMessageId.MaxLength)
            throw new ArgumentException($"The name {Files[file].Name} is too long for a message-id.");
        ids[^1] = last;
        return [.. ids.Select((id, i) => new PostedPart(id, measured[i].EncodedLength))];
    }

    private MockMessageId Id(int file, int part, int parts, long begin, int length) => new()
    {
        Source = Files[file].Content is null ? ContentSource.Plain : Recipe is null ? ContentSource.Media : ContentSource.Layout,
        Recipe = Recipe,
        IsUuencoded = Files[file].IsUuencoded,
        Seed = Seed,
        File = file,
        Files = Files.Count,
        Part = part,
        Parts = parts,
        Begin = begin,
        Length = length,
        FileSize = Files[file].Size,
        FileCrc = part == parts ? 0 : null,
        Name = Files[file].Name,
    };
}

/// <summary>A part of a release as listed in its NZB.</summary>
internal readonly record struct PostedPart(MockMessageId Id, int EncodedLength);
