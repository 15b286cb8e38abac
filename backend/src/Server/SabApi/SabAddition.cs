using System.Globalization;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>Parameters and responses shared by the modes that add NZBs (SAB-20 to SAB-29).</summary>
internal static class SabAddition
{
    // SABnzbd's priority numbers for paused and stopped.
    private const int Paused = -2;
    private const int Stop = -4;

    public static NzbAddition Read(SabCall call, string fileName)
    {
        var parameters = call.Parameters;
        var priority = int.TryParse(parameters.Text("priority"), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) ? number : 0;
        var name = parameters.Text("nzbname");
        return new NzbAddition
        {
            FileName = fileName,
            Name = name.Length == 0 ? null : name,
            Category = parameters.Text("cat", "category"),
            Priority = Enum.IsDefined((QueuePriority)priority) ? (QueuePriority)priority : QueuePriority.Normal,
            Paused = priority is Paused or Stop,
            Password = parameters.Text("password"),
            PostProcessing = int.TryParse(parameters.Text("pp"), NumberStyles.None, CultureInfo.InvariantCulture, out var pp) && pp is >= 0 and <= 3 ? pp : -1,
            Script = parameters.Text("script"),
        };
    }

    public static Task AnswerAsync(SabCall call, AddOutcome outcome) =>
        outcome.Refusal is { } refusal ? RefuseAsync(call, refusal) : SabAnswer.ItemsAsync(call, true, outcome.Ids);

    public static Task RefuseAsync(SabCall call, AddRefusal refusal) => refusal switch
    {
        AddRefusal.DiskFull => SabAnswer.ErrorAsync(call, SabTexts.DiskFull),
        AddRefusal.TooLarge => SabAnswer.RefuseAsync(call.Http, StatusCodes.Status413PayloadTooLarge, SabTexts.TooLarge),
        AddRefusal.TooSlow => SabAnswer.RefuseAsync(call.Http, StatusCodes.Status408RequestTimeout, SabTexts.TooSlow),
        _ => SabAnswer.ErrorAsync(call, SabTexts.QueueFull),
    };
}
