using System.Globalization;
using System.Text.Json;
using Sluice.Server.History;

namespace Sluice.Server.SabApi;

/// <summary>One item of the history as clients of SABnzbd read it.</summary>
internal static class HistorySlot
{
    /// <summary>Status of an item that became a release.</summary>
    public const string Completed = "Completed";

    /// <summary>Status of any other item.</summary>
    public const string Failed = "Failed";

    /// <summary>Writes the item.</summary>
    /// <param name="json">Takes it.</param>
    /// <param name="item">The item.</param>
    /// <param name="completeFolder">Where clients find releases.</param>
    public static void Write(Utf8JsonWriter json, HistoryItem item, string completeFolder)
    {
        var storage = item.IsCompleted ? $"{completeFolder}/{item.Folder}/{item.Name}" : "";
        json.WriteStartObject();
        json.WriteNumber("completed", item.CompletedAt.ToUnixTimeSeconds());
        json.WriteString("name", item.Name);
        json.WriteString("nzb_name", item.NzbName);
        json.WriteString("category", item.Category);
        json.WriteString("pp", SabWords.HistoryOptions(item.PostProcessing));
        json.WriteString("script", SabWords.Script(item.Script));
        json.WriteString("report", "");
        json.WriteString("url", "");
        json.WriteString("status", item.IsCompleted ? Completed : Failed);
        json.WriteString("nzo_id", item.Id);
        json.WriteString("storage", storage);
        json.WriteString("path", storage);
        json.WriteString("script_line", "");
        json.WriteNumber("download_time", (long)(item.CompletedAt - item.StartedAt).TotalSeconds);
        json.WriteNumber("postproc_time", 0);
        WriteStages(json, item.Steps);
        json.WriteNumber("downloaded", item.EncodedBytes);
        json.WriteNull("completeness");
        json.WriteString("fail_message", item.FailMessage);
        json.WriteString("url_info", "");
        json.WriteNumber("bytes", item.Bytes);
        json.WriteString("size", SabUnits.Size(item.Bytes));
        json.WriteNull("meta");
        json.WriteString("series", "");
        json.WriteString("duplicate_key", "");
        json.WriteString("md5sum", "");
        json.WriteString("password", item.Password);
        json.WriteString("action_line", "");
        json.WriteBoolean("loaded", false);
        json.WriteBoolean("retry", false);
        json.WriteBoolean("archive", false);
        json.WriteNumber("time_added", item.AddedAt.ToUnixTimeSeconds());
        json.WriteEndObject();
    }

    private static void WriteStages(Utf8JsonWriter json, IReadOnlyList<StepTiming> steps)
    {
        json.WriteStartArray("stage_log");
        foreach (var stage in steps.GroupBy(step => StageOf(step.Step)))
        {
            json.WriteStartObject();
            json.WriteString("name", stage.Key);
            json.WriteStartArray("actions");
            foreach (var step in stage)
            {
                var detail = step.Detail.Length == 0 ? "" : ", " + step.Detail;
                json.WriteStringValue(string.Create(CultureInfo.InvariantCulture, $"{step.Step} {step.Milliseconds} ms{detail}"));
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static string StageOf(string step) => step switch
    {
        nameof(Queue.Steps.ReadNzb) => "Source",
        nameof(Queue.Steps.ProbeHeads) => "Download",
        _ => "Unpack",
    };
}
