using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

public enum SubjectStyle
{
    /// <summary><c>[n/m] - "name" yEnc (1/parts) size</c>.</summary>
    Quoted,

    /// <summary><c>[n/m] name yEnc (1/parts)</c>.</summary>
    Unquoted,

    /// <summary>The title for all files, distinguished by the counter: <c>title [n/m] yEnc (1/parts)</c>.</summary>
    Counted,

    /// <summary>One subject for all files: <c>title yEnc (1/parts)</c>.</summary>
    Shared,

    /// <summary>A random name that differs from the yEnc name: <c>[n/m] - "hex" yEnc (1/parts)</c>.</summary>
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
/// <see cref="MockRelease.Entries"/> of the result lists the expected files. Not thread-safe; two releases of one
/// mock have different seeds.
/// </summary>
/// <param name="articleSize">Decoded bytes per article.</param>
public sealed class ReleaseBuilder(string title, ulong seed, int articleSize = MockFile.DefaultArticleSize)
{
    // Stream numbers reserved per archive. Each entry uses two.
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

    /// <summary>Reserves the next synthetic stream, for an archive created separately with the same seed.</summary>
    public int NextStream()
    {
        var stream = _stream;
        _stream += StreamsOfArchive;
        return stream;
    }

    /// <summary>Sets the subject style of the files added next.</summary>
    public ReleaseBuilder Subjects(SubjectStyle style)
    {
        _style = style;
        return this;
    }

    /// <summary>Posts the files added next under random names. Only a PAR2 index has the original ones.</summary>
    public ReleaseBuilder Obfuscate(bool obfuscates = true)
    {
        _obfuscates = obfuscates;
        return this;
    }

    public ReleaseBuilder Password(string? password)
    {
        _password = password;
        return this;
    }

    /// <summary>Lists each segment as a separate file in the NZB.</summary>
    /// <param name="numbered">Whether subject counter and segment number match the part; otherwise both are 1.</param>
    public ReleaseBuilder ListSegmentsAsFiles(bool numbered = false)
    {
        (_listsSegmentsAsFiles, _numbersSegmentFiles) = (true, numbered);
        return this;
    }

    /// <summary>Lists the files of the NZB in random order. Counters keep the order of addition.</summary>
    public ReleaseBuilder Shuffle()
    {
        _shuffles = true;
        return this;
    }

    /// <summary>Adds a directly posted file with synthetic content and the magic bytes of its extension.</summary>
    public ReleaseBuilder AddFile(string name, long size) => AddFile(name, LayoutSource.ContentOf(name, seed, NextStream(), size));

    /// <param name="isTruth">Whether to list the file in <see cref="MockRelease.Entries"/>.</param>
    public ReleaseBuilder AddFile(string name, MockBytes bytes, bool isTruth = true)
    {
        if (isTruth)
            _entries.Add(new MockEntry(name, bytes) { Posted = [_items.Count] });
        Add(name, name, bytes);
        return this;
    }

    public ReleaseBuilder AddArchive(ArchiveLayout layout) => AddArchive(layout.Make(seed, NextStream()));

    /// <param name="entries">Expected files; null for the archive's own files. For a nested archive pass the inner files.</param>
    public ReleaseBuilder AddArchive(MockArchive archive, IReadOnlyList<MockEntry>? entries = null)
    {
        int[] posted = [.. Enumerable.Range(_items.Count, archive.Volumes.Count)];
        foreach (var volume in archive.Volumes)
            Add(volume.Name, volume.UsualName, volume.Bytes);
        _entries.AddRange((entries ?? archive.Entries).Select(entry => entry with { Posted = posted }));
        return this;
    }

    /// <summary>Adds a PAR2 set over all files added so far.</summary>
    /// <param name="blocks">Recovery blocks, in volumes of 1, 2, 4 and so on; 0 for an index only.</param>
    /// <param name="stem">Start of its file names; null for the title.</param>
    /// <param name="overEntries">
    /// Whether it describes the expected files, such as a film before it is split, instead of the posted ones.
    /// </param>
    public ReleaseBuilder AddPar2(int blocks, string? stem = null, bool overEntries = false)
    {
        var stream = NextStream();
        var described = overEntries ? _entries.Select(entry => (entry.Path, entry.Bytes)) : _items.Select(item => (item.UsualName, item.Bytes));
        foreach (var (name, bytes) in new Par2Writer(described).Write(stem ?? title, blocks, (block, length) => MockBytes.Synthetic(seed, stream + block, length)).ToList())
            Add(name, name, bytes);
        return this;
    }

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

    private sealed record Item(string Name, string UsualName, MockBytes Bytes, SubjectStyle Style);
}
