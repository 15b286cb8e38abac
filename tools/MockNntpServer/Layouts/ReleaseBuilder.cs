using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>What a subject says.</summary>
public enum SubjectStyle
{
    /// <summary><c>[n/m] - "name" yEnc (1/parts) size</c>.</summary>
    Quoted,

    /// <summary><c>[n/m] name yEnc (1/parts)</c>.</summary>
    Unquoted,

    /// <summary>The title for all files, told apart by the counter: <c>title [n/m] yEnc (1/parts)</c>.</summary>
    Counted,

    /// <summary>One subject for all files: <c>title yEnc (1/parts)</c>.</summary>
    Shared,

    /// <summary>A random name that is not that of the yEnc header: <c>[n/m] - "hex" yEnc (1/parts)</c>.</summary>
    Opaque,
}

/// <summary>
/// Builds a release out of plain files, archives and PAR2 sets:
/// <code>
/// var release = new ReleaseBuilder("Some.Film.2020", seed: 7, articleSize: 20_000)
///     .Subjects(SubjectStyle.Opaque)
///     .AddArchive(new ArchiveLayout { Format = LayoutFormat.Rar5, Volumes = 59, Entries = [new("film.mkv", 4_000_000)] })
///     .AddFile("film.nfo", 3000)
///     .AddPar2(blocks: 8)
///     .Shuffle()
///     .Build();
/// mock.Post(release);
/// </code>
/// <see cref="MockRelease.Entries"/> of the outcome is the truth that a reader is compared with. Not thread-safe; two releases of one
/// mock have different seeds.
/// </summary>
/// <param name="title">Name of the release.</param>
/// <param name="seed">Seed of everything.</param>
/// <param name="articleSize">Decoded bytes per article.</param>
public sealed class ReleaseBuilder(string title, ulong seed, int articleSize = MockFile.DefaultArticleSize)
{
    // Streams of one archive; it may have half as many entries.
    private const int StreamsOfArchive = 100_000;

    private readonly List<Item> _items = [];
    private readonly List<MockEntry> _entries = [];
    private SubjectStyle _style = SubjectStyle.Quoted;
    private bool _obfuscates;
    private bool _shuffles;
    private bool _listsSegmentsAsFiles;
    private bool _numbersSegmentFiles;
    private string? _password;
    private int _stream = MockArchive.FirstStream;

    /// <summary>Number of the next synthetic stream, for an archive that is made by hand with the same seed.</summary>
    public int NextStream()
    {
        var stream = _stream;
        _stream += StreamsOfArchive;
        return stream;
    }

    /// <summary>Sets what the subjects of files say that are added from here on.</summary>
    public ReleaseBuilder Subjects(SubjectStyle style)
    {
        _style = style;
        return this;
    }

    /// <summary>Posts files that are added from here on under random names; only a PAR2 index knows those that they had.</summary>
    public ReleaseBuilder Obfuscate(bool obfuscates = true)
    {
        _obfuscates = obfuscates;
        return this;
    }

    /// <summary>Writes a password into the head of the NZB.</summary>
    public ReleaseBuilder Password(string? password)
    {
        _password = password;
        return this;
    }

    /// <summary>Lists each segment of each file as a file of its own in the NZB.</summary>
    /// <param name="numbered">Whether counter of the subject and number of the segment are those of the part; else both are 1.</param>
    public ReleaseBuilder ListSegmentsAsFiles(bool numbered = false)
    {
        (_listsSegmentsAsFiles, _numbersSegmentFiles) = (true, numbered);
        return this;
    }

    /// <summary>Lists the files of the NZB in random order; counters keep the order in which they were added.</summary>
    public ReleaseBuilder Shuffle()
    {
        _shuffles = true;
        return this;
    }

    /// <summary>A file that is posted as it is; synthetic, but for its first bytes, which are those of its extension.</summary>
    public ReleaseBuilder AddFile(string name, long size) => AddFile(name, LayoutSource.ContentOf(name, seed, NextStream(), size));

    /// <summary>A file with given bytes.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="bytes">Its bytes.</param>
    /// <param name="isTruth">Whether it is one of <see cref="MockRelease.Entries"/>.</param>
    public ReleaseBuilder AddFile(string name, MockBytes bytes, bool isTruth = true)
    {
        if (isTruth)
            _entries.Add(new MockEntry(name, bytes) { Posted = [_items.Count] });
        Add(name, name, bytes);
        return this;
    }

    /// <summary>An archive.</summary>
    public ReleaseBuilder AddArchive(ArchiveLayout layout) => AddArchive(layout.Make(seed, NextStream()));

    /// <summary>An archive that was made already.</summary>
    /// <param name="archive">The archive.</param>
    /// <param name="entries">The truth; null for that of the archive. Of an archive in an archive it is that of the inner one.</param>
    public ReleaseBuilder AddArchive(MockArchive archive, IReadOnlyList<MockEntry>? entries = null)
    {
        int[] posted = [.. Enumerable.Range(_items.Count, archive.Volumes.Count)];
        foreach (var volume in archive.Volumes)
            Add(volume.Name, volume.UsualName, volume.Bytes);
        _entries.AddRange((entries ?? archive.Entries).Select(entry => entry with { Posted = posted }));
        return this;
    }

    /// <summary>A PAR2 set over all files that were added so far.</summary>
    /// <param name="blocks">Recovery blocks, in volumes of 1, 2, 4 and so on; 0 for an index alone.</param>
    /// <param name="stem">Beginning of its names; null for the title.</param>
    /// <param name="overEntries">Whether it describes the truth, such as a film that was split after, in place of what is posted.</param>
    public ReleaseBuilder AddPar2(int blocks, string? stem = null, bool overEntries = false)
    {
        var stream = NextStream();
        var described = overEntries ? _entries.Select(entry => (entry.Path, entry.Bytes)) : _items.Select(item => (item.UsualName, item.Bytes));
        foreach (var (name, bytes) in new Par2Writer(described).Write(stem ?? title, blocks, (block, length) => MockBytes.Synthetic(seed, stream + block, length)).ToList())
            Add(name, name, bytes);
        return this;
    }

    /// <summary>The release.</summary>
    public MockRelease Build() => Build(recipe: null);

    internal MockRelease Build(string? recipe)
    {
        var files = _items.Select((item, index) => new MockFile
        {
            Name = item.Name,
            Size = item.Bytes.Length,
            ArticleSize = articleSize,
            Content = MediaContent.Of(item.Name, item.Bytes),
            Subject = SubjectOf(item, index),
        }).ToArray();
        int[] order = [.. Enumerable.Range(0, files.Length)];
        if (_shuffles)
            new Random((int)(seed & int.MaxValue)).Shuffle(order);
        return new MockRelease(title, seed, [.. order.Select(index => files[index])])
        {
            Password = _password,
            Entries = [.. _entries.Select(entry => entry with { Posted = [.. entry.Posted.Select(index => Array.IndexOf(order, index))] })],
            Recipe = recipe,
            ListsSegmentsAsFiles = _listsSegmentsAsFiles,
            NumbersSegmentFiles = _numbersSegmentFiles,
        };
    }

    private void Add(string name, string usualName, MockBytes bytes) =>
        _items.Add(new Item(_obfuscates ? VolumeNames.Hex(seed + 77, _items.Count) : name, usualName, bytes, _style));

    private string SubjectOf(Item item, int index)
    {
        var parts = Math.Max(1, (item.Bytes.Length + articleSize - 1) / articleSize);
        var counter = $"[{index + 1}/{_items.Count}]";
        return FormattableString.Invariant(item.Style switch
        {
            SubjectStyle.Quoted => $"{counter} - \"{item.Name}\" yEnc (1/{parts}) {item.Bytes.Length}",
            SubjectStyle.Unquoted => $"{counter} {item.Name} yEnc (1/{parts})",
            SubjectStyle.Counted => $"{title} {counter} yEnc (1/{parts})",
            SubjectStyle.Shared => $"{title} yEnc (1/{parts})",
            _ => (FormattableString)$"{counter} - \"{VolumeNames.Hex(seed + 99, index)}\" yEnc (1/{parts})",
        });
    }

    /// <summary>A file that will be posted.</summary>
    private sealed record Item(string Name, string UsualName, MockBytes Bytes, SubjectStyle Style);
}
