using System.Globalization;
using System.Text.Json;

namespace Sluice.Server.Tests.ArrReplica;

/// <summary>An answer that Sonarr and its relatives cannot parse, so they discard it as a whole.</summary>
internal sealed class ArrParseException(string message) : Exception(message);

/// <summary>An answer that reports a failed call; the programs display its text.</summary>
internal sealed class ArrErrorException(string text) : Exception(text);

/// <summary>A queue item as the programs store it.</summary>
internal sealed record ArrQueueItem(string Id, string Title, string Category, string Status, string Priority, decimal Size, decimal SizeLeft, TimeSpan TimeLeft);

/// <summary>The queue as the programs store it.</summary>
internal sealed record ArrQueue(bool Paused, IReadOnlyList<ArrQueueItem> Items);

/// <summary>A history item as the programs store it. They import and remove the folder <c>OutputPath</c>, which is empty if there is none.</summary>
internal sealed record ArrHistoryItem(string Id, string Title, string Category, string Status, string FailMessage, long Size, string Storage, string OutputPath);

/// <summary>
/// Parses responses as the *arr do (SAB-91): strings into enum values, durations at their colons, numbers in the invariant culture. Finds the folder
/// of a release by walking up from its storage. It is stricter in one respect: an unknown priority is an error here, not the default.
/// </summary>
internal static class ArrParser
{
    private static readonly string[] Statuses =
    [
        "Grabbing", "Queued", "Paused", "Checking", "Downloading", "ToPP", "QuickCheck", "Verifying", "Repairing", "Fetching", "Extracting",
        "Moving", "Running", "Completed", "Failed", "Deleted", "Propagating",
    ];

    private static readonly string[] Priorities = ["Default", "Paused", "Low", "Normal", "High", "Force", "Repair"];

    /// <summary>Parses any answer and first checks it for an error, as the programs do.</summary>
    public static JsonElement Read(string text)
    {
        JsonElement answer;
        try
        {
            using var json = JsonDocument.Parse(text);
            answer = json.RootElement.Clone();
        }
        catch (JsonException e)
        {
            throw new ArrParseException($"{e.Message}: {text}");
        }

        if (answer.ValueKind != JsonValueKind.Object)
            throw new ArrParseException($"No object: {text}");
        if (answer.TryGetProperty("status", out var status) && status.ToString().Equals("false", StringComparison.OrdinalIgnoreCase))
            throw new ArrErrorException(answer.TryGetProperty("error", out var error) ? TextOf(error, "error") : "");
        return answer;
    }

    /// <summary>Parses the answer to <c>mode=queue</c>.</summary>
    public static ArrQueue ReadQueue(JsonElement answer)
    {
        var queue = Member(answer, "queue");
        return new ArrQueue(Member(queue, "paused").ValueKind == JsonValueKind.True, [.. ListOf(queue, "slots").Select(ReadQueueItem)]);
    }

    /// <summary>Parses the answer to <c>mode=history</c>.</summary>
    public static IReadOnlyList<ArrHistoryItem> ReadHistory(JsonElement answer) => [.. ListOf(Member(answer, "history"), "slots").Select(ReadHistoryItem)];

    /// <summary>Parses the answer to <c>mode=get_config</c>.</summary>
    /// <returns>The folders of the categories by name; an empty name has the folder of all releases.</returns>
    public static IReadOnlyDictionary<string, string> ReadConfig(JsonElement answer)
    {
        var config = Member(answer, "config");
        var misc = Member(config, "misc");
        foreach (var name in new[] { "pre_check", "enable_tv_sorting", "enable_movie_sorting", "enable_date_sorting" })
            NumberOf(misc, name);
        foreach (var name in new[] { "tv_categories", "movie_categories", "date_categories" })
            ListOf(misc, name);
        TextOf(misc, "history_retention");
        TextOf(misc, "history_retention_option");
        NumberOf(misc, "history_retention_number");
        var folders = new Dictionary<string, string> { [""] = TextOf(misc, "complete_dir") };
        foreach (var category in ListOf(config, "categories"))
        {
            NumberOf(category, "priority");
            TextOf(category, "pp");
            TextOf(category, "script");
            var folder = TextOf(category, "dir");
            if (folder.EndsWith('*'))
                throw new ArrParseException($"No folders of releases in {folder}");
            folders.Add(TextOf(category, "name"), folder);
        }

        return folders;
    }

    /// <summary>Parses the answer to <c>mode=fullstatus</c> and returns the folder of finished releases.</summary>
    public static string ReadFullStatus(JsonElement answer) => TextOf(Member(answer, "status"), "completedir");

    private static ArrQueueItem ReadQueueItem(JsonElement slot)
    {
        NumberOf(slot, "index");
        IntegerOf(TextOf(slot, "percentage"));
        var title = TextOf(slot, "filename");
        if (title.StartsWith("ENCRYPTED /", StringComparison.Ordinal))
            throw new ArrParseException($"They would take it for encrypted: {title}");
        return new ArrQueueItem(
            TextOf(slot, "nzo_id"),
            title,
            TextOf(slot, "cat"),
            WordOf(slot, "status", Statuses),
            WordOf(slot, "priority", Priorities),
            DecimalOf(slot, "mb"),
            DecimalOf(slot, "mbleft"),
            TimeOf(TextOf(slot, "timeleft")));
    }

    private static ArrHistoryItem ReadHistoryItem(JsonElement slot)
    {
        var (title, storage, status) = (TextOf(slot, "name"), TextOf(slot, "storage"), WordOf(slot, "status", Statuses));
        NumberOf(slot, "download_time");
        TextOf(slot, "nzb_name");
        var item = new ArrHistoryItem(
            TextOf(slot, "nzo_id"), title, TextOf(slot, "category"), status, TextOf(slot, "fail_message"), NumberOf(slot, "bytes"), storage, WalkUp(storage, title));
        if (status == "Completed" && storage.Length == 0)
            throw new ArrParseException($"Completed without a folder: {title}");
        return item;
    }

    /// <summary>Returns the topmost parent folder with the name of the release, or the storage itself if there is none.</summary>
    private static string WalkUp(string storage, string title)
    {
        if (storage.Length > 0 && !storage.StartsWith('/'))
            throw new ArrParseException($"No absolute path: {storage}");
        var found = storage;
        for (var parent = storage; parent.LastIndexOf('/') is var slash and > 0;)
        {
            parent = parent[..slash];
            if (parent[(parent.LastIndexOf('/') + 1)..] == title)
                found = parent;
        }

        return found;
    }

    private static TimeSpan TimeOf(string text)
    {
        int[] parts = [.. text.Split(':').Select(IntegerOf)];
        return parts switch
        {
            [var days, var hours, var minutes, var seconds] => new TimeSpan((days * 24) + hours, minutes, seconds),
            [var hours, var minutes, var seconds] => new TimeSpan(hours, minutes, seconds),
            _ => throw new ArrParseException($"No time: {text}"),
        };
    }

    private static int IntegerOf(string text) => int.TryParse(text, NumberStyles.Integer, CultureInfo.InvariantCulture, out var number)
        ? number
        : throw new ArrParseException($"No integer: {text}");

    private static decimal DecimalOf(JsonElement from, string name)
    {
        var text = TextOf(from, name);
        const NumberStyles plain = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint;
        return decimal.TryParse(text, plain, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new ArrParseException($"{name} is no decimal: {text}");
    }

    private static string WordOf(JsonElement from, string name, string[] words)
    {
        var text = TextOf(from, name);
        return words.FirstOrDefault(word => word.Equals(text, StringComparison.OrdinalIgnoreCase)) ?? throw new ArrParseException($"{name} is no word of theirs: {text}");
    }

    private static long NumberOf(JsonElement from, string name) => Member(from, name).TryGetInt64(out var number)
        ? number
        : throw new ArrParseException($"{name} is no whole number: {from}");

    private static string TextOf(JsonElement from, string name) => from.ValueKind == JsonValueKind.String
        ? from.GetString()!
        : Member(from, name) is { ValueKind: JsonValueKind.String } text ? text.GetString()! : throw new ArrParseException($"{name} is no text: {from}");

    private static JsonElement.ArrayEnumerator ListOf(JsonElement from, string name) => Member(from, name) is { ValueKind: JsonValueKind.Array } list
        ? list.EnumerateArray()
        : throw new ArrParseException($"{name} is no list");

    private static JsonElement Member(JsonElement from, string name) => from.TryGetProperty(name, out var member)
        ? member
        : throw new ArrParseException($"{name} is missing: {from}");
}
