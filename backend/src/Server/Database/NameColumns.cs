using System.Data.Common;
using Dapper;

namespace Sluice.Server.Database;

/// <summary>The columns that contain names of releases or files, or paths with such names. A test compares this list with the schema.</summary>
internal static class NameColumns
{
    public static IReadOnlyList<(string Table, string Column)> All { get; } =
    [
        ("history_item", "name"),
        ("history_item", "nzb_name"),
        ("history_item", "release_folder"),
        ("library_file", "original_name"),
        ("library_file", "path_key"),
        ("queue_file", "name"),
        ("queue_item", "name"),
        ("queue_item", "nzb_name"),
        ("receipt", "path"),
        ("release", "name"),
        ("removed_history_item", "name"),
        ("removed_history_item", "nzb_name"),
        ("removed_history_item", "release_folder"),
        ("removed_item", "name"),
        ("removed_item", "path_key"),
        ("removed_library_file", "original_name"),
        ("removed_library_file", "path_key"),
        ("removed_queue_file", "name"),
        ("removed_queue_item", "name"),
        ("removed_queue_item", "nzb_name"),
        ("removed_release", "name"),
        ("removed_strm", "path"),
        ("removed_strm_folder", "name"),
        ("watched_file", "path"),
    ];

    /// <summary>
    /// Reads all names, the last name of each path, and each folder below the category in the path of a receipt, because a receipt outlives its release. The
    /// result includes duplicates. Reads row by row, so that a large library does not exhaust memory.
    /// </summary>
    public static IEnumerable<string> Read(DbConnection connection) => All
        .SelectMany(place => connection
            .Query<string>($"SELECT {place.Column} FROM {place.Table} WHERE {place.Column} IS NOT NULL", buffered: false)
            .SelectMany(text => place.Table == "receipt" ? text.Split('/').Skip(1) : [text[(text.LastIndexOf('/') + 1)..]]));
}
