using System.Globalization;
using Sluice.Server.History;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>A history item in SABnzbd's format.</summary>
internal static class HistorySlot
{
    public const string Completed = "Completed";
    public const string Failed = "Failed";

    /// <param name="root">The folder of completed items that contains the release.</param>
    public static void Write(ISabWriter to, HistoryItem item, string password, string root)
    {
        // Clients delete this folder, so an item without its own folder must not report the category folder.
        var storage = item.IsCompleted && item.ReleaseFolder.Length > 0 ? $"{root}/{item.Folder}/{item.ReleaseFolder}" : "";
        to.BeginObject();
        to.Field("completed", item.CompletedAt.ToUnixTimeSeconds());
        to.Field("name", item.IsCompleted ? NameOf(item, root) : item.Name);
        to.Field("nzb_name", item.NzbName);
        to.Field("category", item.Category);
        to.Field("pp", SabWords.HistoryOptions(item.PostProcessing));
        to.Field("script", SabWords.Script(item.Script));
        to.Field("report", "");
        to.Field("url", "");
        to.Field("status", item.IsCompleted ? Completed : Failed);
        to.Field("nzo_id", item.Id);
        to.Field("storage", storage);
        to.Field("path", storage);
        to.Field("script_line", "");
        to.Field("download_time", (long)(item.CompletedAt - item.StartedAt).TotalSeconds);
        to.Field("postproc_time", 0);
        WriteStages(to, item.Steps);
        to.Field("downloaded", item.EncodedBytes);
        to.Field("completeness", null);
        to.Field("fail_message", item.FailMessage);
        to.Field("url_info", "");
        to.Field("bytes", item.Bytes);
        to.Field("size", SabUnits.Size(item.Bytes));
        to.Field("meta", null);
        to.Field("series", "");
        to.Field("duplicate_key", "");
        to.Field("md5sum", "");
        to.Field("password", password);
        to.Field("action_line", "");
        to.Field("loaded", false);
        to.Field("retry", item.MayReturn);
        to.Field("archive", item.View == ClientView.Archive);
        to.Field("time_added", item.AddedAt.ToUnixTimeSeconds());
        to.EndObject();
    }

    /// <summary>Returns the item name, with a number if a folder above the release has the same name, because clients delete such a folder (SAB-42).</summary>
    private static string NameOf(HistoryItem item, string root) =>
        ReleaseName.FindFree(item.Name, name => ReleaseName.IsAmbiguous(name, item.Folder, root));

    private static void WriteStages(ISabWriter to, IReadOnlyList<StepTiming> steps)
    {
        to.BeginList("stage_log");
        foreach (var stage in steps.GroupBy(step => StageOf(step.Step)))
        {
            to.BeginObject();
            to.Field("name", stage.Key);
            to.BeginList("actions");
            foreach (var step in stage)
            {
                var detail = step.Detail.Length == 0 ? "" : ", " + step.Detail;
                to.Field(null, string.Create(CultureInfo.InvariantCulture, $"{step.Step} {step.Milliseconds} ms{detail}"));
            }

            to.EndList();
            to.EndObject();
        }

        to.EndList();
    }

    private static string StageOf(string step) => step switch
    {
        nameof(Queue.Steps.ReadNzb) => "Source",
        nameof(Queue.Steps.ProbeHeads) => "Download",
        _ => "Unpack",
    };
}
