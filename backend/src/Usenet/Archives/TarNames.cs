using System.Globalization;
using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>Tracks tar extension headers, which override the next header: GNU long names and pax records (POSIX.1-2017, pax, "pax Extended Header").</summary>
/// <remarks>For one archive, in header order; not thread-safe.</remarks>
internal sealed class TarNames
{
    private const string PathKey = "path";
    private const string LengthKey = "size";
    private const string SparseKeys = "GNU.sparse.";

    private readonly Dictionary<string, string> _global = [];
    private readonly Dictionary<string, string> _next = [];

    /// <summary>Adds the data of an extension header.</summary>
    /// <exception cref="ArchiveException">A record is damaged.</exception>
    public void Add(TarKind kind, ReadOnlySpan<byte> data)
    {
        if (kind == TarKind.LongName)
            _next[PathKey] = TarHeader.Text(data);
        else
            AddRecords(data, kind == TarKind.GlobalPax ? _global : _next);
    }

    /// <summary>Applies the overrides to a header and drops the local ones, which apply only once.</summary>
    /// <exception cref="ArchiveException">A length is not a number.</exception>
    public TarHeader Apply(TarHeader header)
    {
        if (Find(PathKey) is { Length: > 0 } path)
            header = header with { Path = path, Kind = header.Kind == TarKind.File && path.EndsWith('/') ? TarKind.Folder : header.Kind };
        if (header.Kind is not (TarKind.Folder or TarKind.Special) && Find(LengthKey) is { Length: > 0 } length)
        {
            header = header with
            {
                Length = long.TryParse(length, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : throw Broken(),
            };
        }

        if (_next.Keys.Concat(_global.Keys).Any(key => key.StartsWith(SparseKeys, StringComparison.Ordinal)))
            header = header with { Kind = TarKind.Sparse };
        _next.Clear();
        return header;
    }

    // An empty local value cancels the global one.
    private string? Find(string key) => _next.TryGetValue(key, out var value) || _global.TryGetValue(key, out value) ? value : null;

    // Each record is "%d %s=%s\n" and begins with its own length.
    private static void AddRecords(ReadOnlySpan<byte> data, Dictionary<string, string> records)
    {
        // Trim zeros, because some programs pad with them.
        data = data.TrimEnd((byte)0);
        while (!data.IsEmpty)
        {
            var space = data.IndexOf((byte)' ');
            if (space <= 0 || !int.TryParse(data[..space], NumberStyles.None, CultureInfo.InvariantCulture, out var length)
                || length <= space + 1 || length > data.Length || data[length - 1] != '\n')
            {
                throw Broken();
            }

            var record = data[(space + 1)..(length - 1)];
            var sign = record.IndexOf((byte)'=');
            if (sign <= 0)
                throw Broken();
            var key = Encoding.UTF8.GetString(record[..sign]);
            if (key is PathKey or LengthKey || key.StartsWith(SparseKeys, StringComparison.Ordinal))
                records[key] = Encoding.UTF8.GetString(record[(sign + 1)..]);
            data = data[length..];
        }
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "a pax record in it is damaged");
}
