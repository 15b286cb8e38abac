using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>SABnzbd's words for states. Clients parse them as enums and reject the whole answer for an unknown word (SAB-32, SAB-41).</summary>
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

    /// <summary>Returns the post-processing option of a queue item; an unset option means everything (3).</summary>
    public static string UnpackOptions(int postProcessing) =>
        (postProcessing < 0 ? 3 : postProcessing).ToString(System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>Returns the letter that the history uses for the same option.</summary>
    public static string HistoryOptions(int postProcessing) => HistoryPostProcessing[postProcessing is < 0 or > 3 ? 3 : postProcessing];

    /// <summary>Maps the category in a client's filter to its stored name.</summary>
    public static string Category(string category) => category is "Default" or "None" ? Library.CategoryRules.None : category;

    public static string Script(string script) => script.Length == 0 ? NoScript : script;
}
