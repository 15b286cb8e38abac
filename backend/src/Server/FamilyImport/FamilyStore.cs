using System.Data.Common;
using System.Globalization;

namespace Sluice.Server.FamilyImport;

/// <summary>Reads the tables of the old database. Checks each column's existence first, because the forks differ. A missing column reads as null.</summary>
/// <remarks>Does not own the connection.</remarks>
internal sealed class FamilyStore(DbConnection connection)
{
    /// <summary>Maximum entries of the old tree.</summary>
    public const int MaxItems = 5_000_000;

    // Maximum length of a file description or NZB in a column.
    private const long MaxValue = 512L << 20;

    private readonly Dictionary<string, HashSet<string>> _columns = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Whether the tables have the structure of nzbdav and its forks.</summary>
    public bool IsOfFamily => Has("DavItems", "ParentId") && Has("ConfigItems", "ConfigName");

    public bool Has(string table, string column)
    {
        if (!_columns.TryGetValue(table, out var columns))
        {
            using var command = connection.CreateCommand();
            command.CommandText = "SELECT name FROM pragma_table_info(@table)";
            Add(command, "@table", table);
            using var reader = command.ExecuteReader();
            columns = new(StringComparer.OrdinalIgnoreCase);
            while (reader.Read())
                columns.Add(reader.GetString(0));
            _columns[table] = columns;
        }

        return columns.Contains(column);
    }

    public IReadOnlyList<FamilySetting> ReadSettings() =>
    [
        .. Read("ConfigItems", ["ConfigName", "ConfigValue"], "ORDER BY 1")
            .Where(row => Text(row[0]) is { Length: > 0 })
            .Select(row => new FamilySetting(Text(row[0])!, Text(row[1]) ?? "")),
    ];

    public IReadOnlyList<FamilyLogin> ReadLogins() =>
    [
        .. Read("Accounts", ["Username", "PasswordHash", "RandomSalt"], Has("Accounts", "Type") ? "WHERE Type = 1 ORDER BY 1" : "ORDER BY 1")
            .Select(row => new FamilyLogin(Text(row[0]) ?? "", Text(row[1]) ?? "", Text(row[2]) ?? "")),
    ];

    /// <summary>Reads all tree entries with an id. <paramref name="nameless"/> counts files without an id.</summary>
    /// <exception cref="FamilyFormatException">The tree has too many entries.</exception>
    public IReadOnlyList<FamilyItem> ReadItems(out int nameless)
    {
        var items = new List<FamilyItem>();
        nameless = 0;
        foreach (var row in Read(
            "DavItems", ["Id", "ParentId", "Name", "Type", "SubType", "FileSize", "Path", "FileBlobId", "NzbBlobId", "CreatedAt"], ""))
        {
            if (items.Count == MaxItems)
                throw new FamilyFormatException($"The old library has more than {MaxItems} entries.");
            var kind = KindOf(Number(row[3]) ?? 0, Number(row[4]) ?? 0);
            if (Id(row[0]) is not { } id)
            {
                nameless += kind == FamilyKind.Folder ? 0 : 1;
                continue;
            }

            items.Add(new FamilyItem(id, Id(row[1]), Text(row[2]) ?? "", kind)
            {
                Length = Number(row[5]),
                Path = Text(row[6]),
                Blob = Id(row[7]),
                Nzb = Id(row[8]),
                At = Time(row[9]),
            });
        }

        return items;
    }

    /// <summary>Reads the history, oldest first, and counts rows without an id.</summary>
    public IReadOnlyList<FamilyHistory> ReadHistory(out int nameless)
    {
        var rows = Read(
            "HistoryItems",
            ["Id", "JobName", "FileName", "Category", "CreatedAt", "DownloadStatus", "TotalSegmentBytes", "DownloadTimeSeconds", "FailMessage", "DownloadDirId", "NzbBlobId", "IsHidden", "IsArchived", "NzbContents IS NOT NULL"],
            "ORDER BY CreatedAt").ToList();
        List<FamilyHistory> items =
        [
            .. rows.Where(row => Id(row[0]) is not null).Select(row => new FamilyHistory(Id(row[0])!.Value, Text(row[1]) ?? "", Text(row[2]) ?? "", Text(row[3]) ?? "", Time(row[4]))
            {
                IsCompleted = Number(row[5]) == 1,
                Bytes = Math.Max(0, Number(row[6]) ?? 0),
                Took = TimeSpan.FromSeconds(Math.Clamp(Number(row[7]) ?? 0, 0, int.MaxValue)),
                Message = Text(row[8]) ?? "",
                Folder = Id(row[9]),
                Nzb = Id(row[10]),
                IsArchived = Number(row[11]) is > 0 || Number(row[12]) is > 0,
                HasNzbText = Number(row[13]) is > 0,
            }),
        ];
        nameless = rows.Count - items.Count;
        return items;
    }

    /// <summary>Reads the queue in order and counts rows without an id.</summary>
    public IReadOnlyList<FamilyQueueItem> ReadQueue(out int nameless)
    {
        var order = Has("QueueItems", "SortOrder") ? "ORDER BY Priority DESC, SortOrder, CreatedAt" : "ORDER BY Priority DESC, CreatedAt";
        var rows = Read("QueueItems", ["Id", "JobName", "FileName", "Category", "Priority", "CreatedAt"], order).ToList();
        List<FamilyQueueItem> items =
        [
            .. rows.Where(row => Id(row[0]) is not null).Select(row => new FamilyQueueItem(
                Id(row[0])!.Value, Text(row[1]) ?? "", Text(row[2]) ?? "", Text(row[3]) ?? "", (int)Math.Clamp(Number(row[4]) ?? 0, -100, 100), Time(row[5]))),
        ];
        nameless = rows.Count - items.Count;
        return items;
    }

    /// <summary>Returns a file's description from its table; null if there is none.</summary>
    public string? FindContent(FamilyKind kind, Guid id) => kind switch
    {
        FamilyKind.Nzb => FindText("DavNzbFiles", "SegmentIds", id),
        FamilyKind.Rar => FindText("DavRarFiles", "RarParts", id),
        _ => FindText("DavMultipartFiles", "Metadata", id),
    };

    /// <summary>Returns the segment lengths of a posted file, 8 bytes each; null if not stored.</summary>
    public byte[]? FindSegmentSizes(Guid id) => FindValue("DavNzbFiles", "SegmentSizes", id) as byte[];

    /// <summary>Returns the NZB of a queue or history item; null if no table contains it.</summary>
    public string? FindNzb(Guid id) =>
        FindText("QueueNzbContents", "NzbContents", id) ?? FindText("QueueItems", "NzbContents", id) ?? FindText("HistoryItems", "NzbContents", id);

    public FamilyShape FindShape()
    {
        if (Has("DavItems", "FileBlobId") && Read("DavItems", ["Id"], "WHERE FileBlobId IS NOT NULL LIMIT 1").Any())
            return FamilyShape.BlobFiles;
        var first = Read("DavNzbFiles", ["SegmentIds"], "LIMIT 1").Concat(Read("DavMultipartFiles", ["Metadata"], "LIMIT 1")).Select(row => Text(row[0])).FirstOrDefault();
        return first is null || FamilyText.IsPlain(first) ? FamilyShape.JsonColumns : FamilyShape.CompressedColumns;
    }

    private string? FindText(string table, string column, Guid id) => Text(FindValue(table, column, id));

    private object? FindValue(string table, string column, Guid id)
    {
        if (!Has(table, column))
            return null;
        using var command = connection.CreateCommand();
        // Match every form, because ids may be uppercase, lowercase or bytes.
        command.CommandText = $"SELECT length(\"{column}\"), \"{column}\" FROM \"{table}\" WHERE Id IN (@upper, @lower, @bytes)";
        Add(command, "@upper", id.ToString("D").ToUpperInvariant());
        Add(command, "@lower", id.ToString("D"));
        Add(command, "@bytes", id.ToByteArray());
        using var reader = command.ExecuteReader();
        if (!reader.Read() || reader.IsDBNull(1))
            return null;
        return reader.GetInt64(0) <= MaxValue ? reader.GetValue(1) : throw new FamilyFormatException("what it is made of is longer than can be");
    }

    private IEnumerable<object?[]> Read(string table, string[] columns, string rest)
    {
        if (!Has(table, columns[0]))
            yield break;
        using var command = connection.CreateCommand();
        var wanted = columns.Select(column => Has(table, column.Split(' ')[0]) ? column.Contains(' ', StringComparison.Ordinal) ? column : $"\"{column}\"" : "NULL");
        command.CommandText = $"SELECT {string.Join(", ", wanted)} FROM \"{table}\" {rest}";
        using var reader = command.ExecuteReader();
        while (reader.Read())
        {
            var row = new object?[columns.Length];
            for (var i = 0; i < row.Length; i++)
                row[i] = reader.IsDBNull(i) ? null : reader.GetValue(i);
            yield return row;
        }
    }

    private static void Add(DbCommand command, string name, object value)
    {
        var parameter = command.CreateParameter();
        (parameter.ParameterName, parameter.Value) = (name, value);
        command.Parameters.Add(parameter);
    }

    // Older versions have no subtypes, so only the type counts.
    private static FamilyKind KindOf(long type, long subtype) => (type, subtype) switch
    {
        (_, 201) or (3, 0) => FamilyKind.Nzb,
        (_, 202) or (4, 0) => FamilyKind.Rar,
        (_, 203) or (6, 0) => FamilyKind.Multipart,
        _ => FamilyKind.Folder,
    };

    private static string? Text(object? value) => value switch
    {
        string text => text,
        byte[] bytes => System.Text.Encoding.UTF8.GetString(bytes),
        null => null,
        _ => Convert.ToString(value, CultureInfo.InvariantCulture),
    };

    private static long? Number(object? value) => value switch
    {
        long number => number,
        double number when number is > -1e18 and < 1e18 => (long)number,
        string text when long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) => number,
        _ => null,
    };

    private static Guid? Id(object? value) => value switch
    {
        string text when Guid.TryParse(text, out var id) => id,
        byte[] { Length: 16 } bytes => new Guid(bytes),
        _ => null,
    };

    // A time without a zone is assumed to be local.
    private static DateTimeOffset Time(object? value) => value switch
    {
        long seconds when seconds is > 0 and < 253_402_300_799 => DateTimeOffset.FromUnixTimeSeconds(seconds),
        string text when DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeLocal, out var at) && at.Year is > 1970 and < 9999 => at,
        _ => DateTimeOffset.UnixEpoch,
    };
}
