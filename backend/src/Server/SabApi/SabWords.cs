using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>SABnzbd's words for states. Clients parse them as enums, and reject the whole response if a word is unknown (SAB-32, SAB-41).</summary>
internal static class SabWords
{
    public const string Grabbing = "Grabbing";
    public const string Queued = "Queued";
    public const string Paused = "Paused";
    public const string Downloading = "Downloading";
    public const string Checking = "Checking";
    public const string Moving = "Moving";
    public const string Idle = "Idle";

    /// <summary>SABnzbd's word for an unset script.</summary>
    public const string NoScript = "None";

    private static readonly string[] HistoryPostProcessing = ["", "R", "U", "D"];

    public static string QueueStatus(QueueItem item, ItemActivity? work) => work is null
        ? item.Paused ? Paused : item.Url is null ? Queued : Grabbing
        : OfStep(work.Step);

    public static string OfStep(string step) => step switch
    {
        "CheckAvailability" => Checking,
        nameof(Queue.Steps.Publish) => Moving,
        _ => Downloading,
    };

    /// <summary>Returns a queue item's post-processing option; if not set, everything (3).</summary>
    public static string UnpackOptions(int postProcessing) =>
        (postProcessing < 0 ? 3 : postProcessing).ToString(System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>Returns the letter that stands for the same option in the history.</summary>
    public static string HistoryOptions(int postProcessing) => HistoryPostProcessing[postProcessing is < 0 or > 3 ? 3 : postProcessing];

    /// <summary>Maps the category in a client's filter to the stored category.</summary>
    public static string Category(string category) => category is "Default" or "None" ? Library.CategoryRules.None : category;

    public static string Script(string script) => script.Length == 0 ? NoScript : script;
}
